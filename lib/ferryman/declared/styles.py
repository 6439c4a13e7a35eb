"""Styles: how a list or an object is written where only texts stand (OpenAPI 3.1, 4.8.12)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ferryman.declared.templates import ABSENT, text
from ferryman.domain.http.request import Template, Text
from ferryman.domain.tools.declared import Style

_SEPARATORS = {Style.COMMA: ",", Style.SPACE: " ", Style.PIPE: "|"}
_KEY = re.compile(r"[^\[\]&=;#\x00-\x20\x7f]{1,128}")


class UnwritableValueError(ValueError):
    """The value cannot be written in its style without reading as another; its message says what can."""


def pairs(name: str, value: Any, style: Style) -> Iterator[tuple[str, Text]]:
    """`value` as pairs of a query or a form; nothing for null and for what is absent."""
    if value is None or value is ABSENT:
        return
    if isinstance(value, Mapping) and style in (Style.REPEAT, Style.DEEP):
        for key, inner in value.items():
            if not _KEY.fullmatch(key):
                raise UnwritableValueError("an object whose names have no brackets, spaces or separators")
            yield from pairs(f"{name}[{key}]" if style is Style.DEEP else key, inner, Style.DEEP)
    elif isinstance(value, list | tuple) and style in (Style.REPEAT, Style.DEEP):
        yield from ((name, _scalar(each)) for each in value if each is not None)
    elif isinstance(value, Mapping | list | tuple):
        yield name, _SEPARATORS[style].join(items(value, _SEPARATORS[style]))
    else:
        yield name, _scalar(value)


def items(value: Any, separator: str = ",") -> list[str]:
    """`value` as the texts that `separator` stands between: one of a scalar, those of a list, names and values of an object."""
    if isinstance(value, Mapping):
        flat = [each for pair in value.items() for each in pair]
    elif isinstance(value, list | tuple):
        flat = [each for each in value if each is not None]
    else:
        return [text(value)]
    if any(isinstance(each, Mapping | list | tuple | Template) for each in flat):
        raise UnwritableValueError("a list of texts and numbers")
    texts = [text(each) for each in flat]
    if any(separator in each for each in texts):
        raise UnwritableValueError(f"a list of texts without '{separator}', which separates them")
    return texts


def _scalar(value: Any) -> Text:
    return value if isinstance(value, Template) else text(value)

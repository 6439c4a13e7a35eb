"""Styles: how a list or an object is written where only texts are possible (OpenAPI 3.1, 4.8.12)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ferryman.declared.templates import ABSENT, to_text
from ferryman.domain.http.request import Template, Text
from ferryman.domain.tools.declared import Style

_SEPARATORS = {Style.COMMA: ",", Style.SPACE: " ", Style.PIPE: "|"}
_KEY = re.compile(r"[^\[\]&=;#\x00-\x20\x7f]{1,128}")


class UnwritableValueError(ValueError):
    """The value cannot be written in its style without being read as another; the message says what can."""


def write_pairs(name: str, value: Any, style: Style) -> Iterator[tuple[str, Text]]:
    """Yield `value` as pairs of a query or a form; nothing for null and for what is absent."""
    if value is None or value is ABSENT:
        return
    if isinstance(value, Mapping) and style in (Style.REPEAT, Style.DEEP):
        for key, inner in value.items():
            if not _KEY.fullmatch(key):
                raise UnwritableValueError("an object whose names have no brackets, spaces or separators")
            yield from write_pairs(f"{name}[{key}]" if style is Style.DEEP else key, inner, Style.DEEP)
    elif isinstance(value, list | tuple) and style in (Style.REPEAT, Style.DEEP):
        yield from ((name, _write_scalar(item)) for item in value if item is not None)
    elif isinstance(value, Mapping | list | tuple):
        yield name, _SEPARATORS[style].join(write_items(value, _SEPARATORS[style]))
    else:
        yield name, _write_scalar(value)


def write_items(value: Any, separator: str = ",") -> list[str]:
    """Return `value` as texts to be joined by `separator`: a scalar, the items of a list, names and values of an object."""
    if isinstance(value, Mapping):
        items = [part for pair in value.items() for part in pair]
    elif isinstance(value, list | tuple):
        items = [item for item in value if item is not None]
    else:
        return [to_text(value)]
    if any(isinstance(item, Mapping | list | tuple | Template) for item in items):
        raise UnwritableValueError("a list of texts and numbers")
    texts = [to_text(item) for item in items]
    if any(separator in text for text in texts):
        raise UnwritableValueError(f"a list of texts without '{separator}', which separates them")
    return texts


def _write_scalar(value: Any) -> Text:
    return value if isinstance(value, Template) else to_text(value)

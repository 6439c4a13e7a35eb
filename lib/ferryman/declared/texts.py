"""Texts: JSON or YAML, of which only what JSON can say is taken, in bounds."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NoReturn

import yaml

from ferryman.domain.problem import build_input_error

BYTES_MAX = 16_777_216
DEPTH_MAX = 128
NODES_MAX = 2_000_000
"""Values, with every alias counted as often as it stands."""

_CROWDED = f"has more than {NODES_MAX} values"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_CONSTANTS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
"""Of YAML 1.2's core schema (10.3.2), so that `on`, `no` and dates stay texts."""
_DECIMAL = re.compile(r"[-+]?[0-9]+", re.ASCII)
_PREFIXED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)


def loads(text: str | bytes, *, what: str) -> Any:
    """`text` as a value, or `InvalidInputError` with `what` as its field. A name that stands twice in an object is refused."""
    size = len(text) if isinstance(text, bytes) else len(text.encode(errors="surrogatepass"))
    if size > BYTES_MAX:
        raise build_input_error(what, f"must be at most {BYTES_MAX} bytes, is {size}")
    try:
        said = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        value = _json(said) if said.lstrip()[:1] in ("{", "[") else _yaml(said)
        _measure(value)
    except UnicodeError:
        raise build_input_error(what, "must be valid Unicode, in UTF-8") from None
    except (_Unreadable, yaml.YAMLError, ValueError, RecursionError) as error:
        raise build_input_error(what, _told(error)) from None
    return value


def loads_json(text: bytes, *, what: str) -> Any:
    """JSON alone, of any size, within the same bounds otherwise; raises `InvalidInputError`."""
    try:
        if crowded(text):
            raise _Unreadable(_CROWDED)
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
        _measure(value)
    except (ValueError, RecursionError) as error:
        raise build_input_error(
            what, str(error) if isinstance(error, _Unreadable) else "is not JSON that can be read"
        ) from None
    return value


class _Unreadable(ValueError):  # noqa: N818 - reads as the fact it states
    """Its message follows the name of what was read."""


def crowded(text: str | bytes) -> bool:
    """Whether JSON has more values than are read, told without making any: each stands behind one of three signs."""
    signs = (b"[", b"{", b",") if isinstance(text, bytes) else ("[", "{", ",")
    return sum(map(text.count, signs)) > NODES_MAX  # type: ignore[arg-type]  # of the text's own type


def _json(text: str) -> Any:
    if crowded(text):
        raise _Unreadable(_CROWDED)
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except json.JSONDecodeError as error:
        try:
            return _yaml(text)  # a mapping of YAML may begin with a brace, too
        except yaml.YAMLError:
            raise _Unreadable(f"is neither JSON nor YAML: line {error.lineno}, column {error.colno}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        _twice(name for name, _ in pairs)
    return found


def _twice(names: Iterable[str]) -> NoReturn:
    [(name, _)] = Counter(names).most_common(1)
    raise _Unreadable(f"has the name {name[:64]!r} twice in one object")


def _constant(text: str) -> NoReturn:
    raise _Unreadable(f"has {text}, which is no number of JSON")


class _Open:
    """A list or an object whose end has not come: its items, names and values alike."""

    __slots__ = ("anchor", "items", "mapping")

    def __init__(self, anchor: str | None, *, mapping: bool) -> None:
        self.anchor, self.mapping = anchor, mapping
        self.items: list[Any] = []

    @property
    def naming(self) -> bool:
        return self.mapping and len(self.items) % 2 == 0

    def closed(self) -> Any:
        if not self.mapping:
            return self.items
        names = self.items[::2]
        found = dict(zip(names, self.items[1::2], strict=True))
        if len(found) < len(names):
            _twice(names)
        return found


def _yaml(text: str) -> Any:
    """One document, without recursion: the library's own way from events to values can be made to exhaust the stack."""
    top = _Open(None, mapping=False)
    stack, anchors, count = [top], dict[str, Any](), 0
    for event in yaml.parse(text, Loader=_LOADER):
        count += 1
        if count > 2 * NODES_MAX:  # a name and a value are one
            raise _Unreadable(_CROWDED)
        anchor = getattr(event, "anchor", None)
        if isinstance(event, yaml.ScalarEvent):
            value = event.value if stack[-1].naming else _scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            if anchor not in anchors:
                raise _Unreadable("has an alias of something that is not there, or is not complete")
            value, anchor = anchors[anchor], None
        elif isinstance(event, yaml.CollectionStartEvent):
            mapping = isinstance(event, yaml.MappingStartEvent)
            _expect(event.tag, "map" if mapping else "seq")
            stack.append(_Open(anchor, mapping=mapping))
            if len(stack) > DEPTH_MAX + 1:
                raise _Unreadable(f"is nested more than {DEPTH_MAX} deep")
            continue
        elif isinstance(event, yaml.CollectionEndEvent):
            done = stack.pop()
            value, anchor = done.closed(), done.anchor
        else:
            continue
        if stack[-1].naming and not isinstance(value, str):
            raise _Unreadable("has a name in an object that is no text")
        if anchor:
            anchors[anchor] = value
        stack[-1].items.append(value)
    if len(top.items) != 1:
        raise _Unreadable("must be one document" if top.items else "must be one document, and is empty")
    return top.items[0]


def _expect(tag: str | None, kind: str) -> None:
    if tag not in (None, "!", _TAG + kind):
        raise _Unreadable("has a tag other than those of JSON's own types")


def _scalar(event: yaml.ScalarEvent) -> Any:
    text: str = event.value
    if event.tag == _TAG + "str" or (event.tag in (None, "!") and not event.implicit[0]):
        return text
    if text in _CONSTANTS:
        value = _CONSTANTS[text]
    elif _DECIMAL.fullmatch(text):
        value = int(text)
    elif _PREFIXED.fullmatch(text):
        value = int(text, 0)
    elif _FLOAT.fullmatch(text):
        value = float(text)
    else:
        value = text
    if event.tag not in (None, "!"):
        _expect(event.tag, {bool: "bool", int: "int", float: "float", str: "str"}.get(type(value), "null"))
    return value


def _measure(value: Any) -> None:
    """Refuse what is too deep, too much, or no Unicode."""
    level, count, depth = [value], 1, 0
    while level:
        following: list[Any] = []
        for each in level:
            if isinstance(each, dict | list):
                count += len(each)  # before they are gathered: an alias makes much of little
                if count > NODES_MAX:
                    raise _Unreadable(_CROWDED)
                if depth == DEPTH_MAX:
                    raise _Unreadable(f"is nested more than {DEPTH_MAX} deep")
                following += each.values() if isinstance(each, dict) else each
                if isinstance(each, dict):
                    "".join(each).encode()
            elif isinstance(each, str):
                each.encode()
            elif isinstance(each, float) and not math.isfinite(each):
                raise _Unreadable("has a number beyond what a double can hold")
        level, depth = following, depth + 1


def _told(error: Exception) -> str:
    if isinstance(error, _Unreadable):
        return str(error)
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"is neither JSON nor YAML: line {mark.line + 1}, column {mark.column + 1}"
    return "is neither JSON nor YAML that can be read: it is nested too deep, or has a number or a character that is none"

"""Texts: JSON or YAML, read within limits; of YAML, only what JSON can represent."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from ferryman.domain.problem import build_input_error

BYTES_MAX = 16_777_216
DEPTH_MAX = 128
NODES_MAX = 2_000_000
"""Values, with every alias counted as often as it occurs."""

_TOO_MANY = f"has more than {NODES_MAX} values"
_TOO_DEEP = f"is nested more than {DEPTH_MAX} deep"
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
    """Return the value of `text`, JSON or YAML.

    Raise `InvalidInputError` with `what` as its field, also for a name that an object has twice.
    """
    size = len(text) if isinstance(text, bytes) else len(text.encode(errors="surrogatepass"))
    if size > BYTES_MAX:
        raise build_input_error(what, f"must be at most {BYTES_MAX} bytes, is {size}")
    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        value = _load_json_or_yaml(decoded) if decoded.lstrip()[:1] in ("{", "[") else _load_yaml(decoded)
        _check_limits(value)
    except UnicodeError:
        raise build_input_error(what, "must be valid Unicode, in UTF-8") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise build_input_error(what, _describe(error)) from None
    return value


def loads_json(text: bytes, *, what: str) -> Any:
    """Return the value of JSON of any size, within the same limits otherwise. Raise `InvalidInputError`."""
    try:
        value = _load_json(text)
        _check_limits(value)
    except _UnreadableError as error:
        raise build_input_error(what, str(error)) from None
    except (ValueError, RecursionError):
        raise build_input_error(what, "is not JSON that can be read") from None
    return value


class _UnreadableError(ValueError):
    """Its message follows the name of what was read."""


def has_too_many_values(text: str | bytes) -> bool:
    """Say whether JSON has more values than are read, without making any: each is behind one of three signs."""
    signs = (b"[", b"{", b",") if isinstance(text, bytes) else ("[", "{", ",")
    return sum(map(text.count, signs)) > NODES_MAX  # type: ignore[arg-type]  # of the text's own type


def _load_json(text: str | bytes) -> Any:
    if has_too_many_values(text):
        raise _UnreadableError(_TOO_MANY)
    return json.loads(text, object_pairs_hook=_build_object, parse_constant=_refuse_constant)


def _load_json_or_yaml(text: str) -> Any:
    try:
        return _load_json(text)
    except json.JSONDecodeError as error:
        try:
            return _load_yaml(text)  # a mapping of YAML may begin with a brace, too
        except yaml.YAMLError:
            raise _UnreadableError(f"is neither JSON nor YAML: line {error.lineno}, column {error.colno}") from None


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) < len(pairs):
        [(name, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise _UnreadableError(f"has the name {name[:64]!r} twice in one object")
    return built


def _refuse_constant(text: str) -> NoReturn:
    raise _UnreadableError(f"has {text}, which is not a number of JSON")


@dataclass(slots=True)
class _Collection:
    """A list or an object that is not complete: its items, names and values alike."""

    anchor: str | None
    is_mapping: bool
    items: list[Any] = field(default_factory=list)

    @property
    def expects_name(self) -> bool:
        return self.is_mapping and len(self.items) % 2 == 0

    def build(self) -> Any:
        """Return the complete list or object."""
        return _build_object(list(zip(self.items[::2], self.items[1::2], strict=True))) if self.is_mapping else self.items


def _load_yaml(text: str) -> Any:
    """Return one document, without recursion: the library's own way from events to values can exhaust the stack."""
    top = _Collection(None, is_mapping=False)
    stack, anchors, count = [top], dict[str, Any](), 0
    for event in yaml.parse(text, Loader=_LOADER):
        count += 1
        if count > 2 * NODES_MAX:  # a name and its value are two events
            raise _UnreadableError(_TOO_MANY)
        anchor = getattr(event, "anchor", None)
        if isinstance(event, yaml.ScalarEvent):
            value = event.value if stack[-1].expects_name else _read_scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            if anchor not in anchors:
                raise _UnreadableError("has an alias of something that does not exist, or is not complete")
            value, anchor = anchors[anchor], None
        elif isinstance(event, yaml.CollectionStartEvent):
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            _check_tag(event.tag, "map" if is_mapping else "seq")
            stack.append(_Collection(anchor, is_mapping=is_mapping))
            if len(stack) > DEPTH_MAX + 1:
                raise _UnreadableError(_TOO_DEEP)
            continue
        elif isinstance(event, yaml.CollectionEndEvent):
            collection = stack.pop()
            value, anchor = collection.build(), collection.anchor
        else:
            continue
        if stack[-1].expects_name and not isinstance(value, str):
            raise _UnreadableError("has a name in an object that is not a text")
        if anchor:
            anchors[anchor] = value
        stack[-1].items.append(value)
    if len(top.items) != 1:
        raise _UnreadableError("must be one document" if top.items else "must be one document, and is empty")
    return top.items[0]


def _check_tag(tag: str | None, kind: str) -> None:
    if tag not in (None, "!", _TAG + kind):
        raise _UnreadableError("has a tag other than those of JSON's own types")


def _read_scalar(event: yaml.ScalarEvent) -> Any:
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
        _check_tag(event.tag, {bool: "bool", int: "int", float: "float", str: "str"}.get(type(value), "null"))
    return value


def _check_limits(value: Any) -> None:
    """Refuse what is too deep, too much, or not Unicode.

    It is no `walk`: of millions of values none needs a path, and those of a list are counted before they are gathered.
    """
    level, count, depth = [value], 1, 0
    while level:
        next_level: list[Any] = []
        for inner in level:
            if isinstance(inner, dict | list):
                count += len(inner)  # before they are gathered: an alias makes much of little
                if count > NODES_MAX:
                    raise _UnreadableError(_TOO_MANY)
                if depth == DEPTH_MAX:
                    raise _UnreadableError(_TOO_DEEP)
                next_level += inner.values() if isinstance(inner, dict) else inner
                if isinstance(inner, dict):
                    "".join(inner).encode()
            elif isinstance(inner, str):
                inner.encode()
            elif isinstance(inner, float) and not math.isfinite(inner):
                raise _UnreadableError("has a number beyond what a double can represent")
        level, depth = next_level, depth + 1


def _describe(error: Exception) -> str:
    if isinstance(error, _UnreadableError):
        return str(error)
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"is neither JSON nor YAML: line {mark.line + 1}, column {mark.column + 1}"
    return "is neither JSON nor YAML that can be read: it is nested too deep, or has an invalid number or character"

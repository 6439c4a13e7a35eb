"""Reading: members of JSON objects that people and programs hand in, checked, with sentences that name what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar, cast, overload

T = TypeVar("T")
D = TypeVar("D")

REQUIRED = object()
KINDS = {str: "a string", int: "a whole number", float: "a number", bool: "true or false", list: "a list", dict: "an object"}


class InvalidRequestError(ValueError):
    """What was handed in cannot be used; the sentence names the member."""


def read_object(value: object, where: str) -> dict[str, object]:
    """Return the value as a JSON object; raise InvalidRequestError."""
    return check_kind(value, dict, where)


def check_kind(value: object, kind: type[T], where: str) -> T:
    """Return the value, if it is of the kind; true is not a number, a whole number is one with a fraction. Raise
    InvalidRequestError."""
    types: tuple[type, ...] = (int, float) if kind is float else (kind,)
    if not isinstance(value, types) or (isinstance(value, bool) and kind is not bool):
        raise InvalidRequestError(f"{where} must be {KINDS[kind]}")
    return cast(T, value)


@overload
def read_member(source: Mapping[str, object], key: str, kind: type[T], where: str) -> T: ...
@overload
def read_member(source: Mapping[str, object], key: str, kind: type[T], where: str, default: D) -> T | D: ...
def read_member(source: Mapping[str, object], key: str, kind: type[T], where: str, default: object = REQUIRED) -> object:
    """Return a member of the kind, or the default where it is absent; without a default it is required. Raise
    InvalidRequestError."""
    if key in source:
        return check_kind(source[key], kind, f"{where}.{key}")
    if default is REQUIRED:
        raise InvalidRequestError(f"{where}.{key} is missing")
    return default


def read_strings(value: object, where: str) -> tuple[str, ...]:
    """Return a list of strings; raise InvalidRequestError."""
    items = check_kind(value, list, where)
    return tuple(check_kind(item, str, f"{where}[{n}]") for n, item in enumerate(items))


def refuse_unknown(source: Mapping[str, object], known: Iterable[str], where: str) -> None:
    """Refuse unknown members, which are mostly misspelt ones; raise InvalidRequestError."""
    if unknown := sorted(set(source) - set(known)):
        raise InvalidRequestError(f"{where} has unknown members: {', '.join(unknown)}")

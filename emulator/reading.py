"""Reading: members of JSON objects that people and programs hand in, checked, with sentences that name what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar, cast, overload

T = TypeVar("T")
D = TypeVar("D")

REQUIRED = object()
KINDS = {str: "a string", int: "a whole number", float: "a number", bool: "true or false", list: "a list", dict: "an object"}


class Invalid(ValueError):  # noqa: N818 - it reads `raise Invalid(…)`
    """What was handed in cannot be used; the sentence names the member."""


def obj(value: object, where: str) -> dict[str, object]:
    """The value as a JSON object; raises Invalid."""
    return checked(value, dict, where)


def checked(value: object, kind: type[T], where: str) -> T:
    """The value, if it is of the kind; true is not a number, a whole number is one with a fraction. Raises Invalid."""
    wanted: tuple[type, ...] = (int, float) if kind is float else (kind,)
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind is not bool):
        raise Invalid(f"{where} must be {KINDS[kind]}")
    return cast(T, value)


@overload
def member(source: Mapping[str, object], key: str, kind: type[T], where: str) -> T: ...
@overload
def member(source: Mapping[str, object], key: str, kind: type[T], where: str, default: D) -> T | D: ...
def member(source: Mapping[str, object], key: str, kind: type[T], where: str, default: object = REQUIRED) -> object:
    """A member of the kind, or the default where it is absent; without a default it is required. Raises Invalid."""
    if key in source:
        return checked(source[key], kind, f"{where}.{key}")
    if default is REQUIRED:
        raise Invalid(f"{where}.{key} is missing")
    return default


def strings(value: object, where: str) -> tuple[str, ...]:
    """A list of strings; raises Invalid."""
    items = checked(value, list, where)
    return tuple(checked(item, str, f"{where}[{n}]") for n, item in enumerate(items))


def only(source: Mapping[str, object], known: Iterable[str], where: str) -> None:
    """Refuse members nobody reads, which are mostly misspelt ones; raises Invalid."""
    if unknown := sorted(set(source) - set(known)):
        raise Invalid(f"{where} has unknown members: {', '.join(unknown)}")

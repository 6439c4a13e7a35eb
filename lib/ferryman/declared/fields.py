"""Fields: what an owner wrote in one object of an entry, read field by field; every problem is collected."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from ferryman.domain.json_tree import find_fault, walk
from ferryman.domain.problem import InvalidInputError, Problem

Choice = TypeVar("Choice", bound=StrEnum)
_KEY_CHARACTERS_MAX = 64
_STATUS_MAX = 599


def join_place(*parts: object) -> str:
    """Return the dotted path of `parts`; an empty part is left out, and what is long is cut, however deep it is nested."""
    place = ""
    for part in (str(part)[:_KEY_CHARACTERS_MAX] for part in parts if part != ""):
        place = f"{place[:_KEY_CHARACTERS_MAX]}.{part}" if place else part
    return place


def report(message: str, *place: object) -> Problem:
    """Return the problem of the field at `place`, the parts of its dotted path."""
    return Problem(join_place(*place), message)


def raise_problems(problems: Iterable[Problem]) -> None:
    """Raise `InvalidInputError` with `problems`, if there are any."""
    if collected := tuple(problems):
        raise InvalidInputError(collected)


def find_json_problem(value: Any, *place: object, depth: int) -> Problem | None:
    """Return what keeps `value` from being JSON of at most `depth` levels, or None."""
    for path, inner in walk(value):
        if len(path) >= depth and isinstance(inner, Mapping | list | tuple):
            return report("is nested too deep", *place, *path)
        if (message := find_fault(inner)) is not None:
            return report(message, *place, *path)
    return None


class Fields:
    """The fields of one object, each read once; a field that nobody read is unknown."""

    def __init__(self, value: Any, where: str, problems: list[Problem]) -> None:
        self.where, self.problems = where, problems
        self._unread: dict[str, Any] = dict(value) if isinstance(value, Mapping) else {}
        self._known: list[str] = []
        self._is_object = isinstance(value, Mapping)
        if not self._is_object:
            problems.append(Problem(where, "must be an object"))

    def report(self, name: str, message: str) -> None:
        """Add a problem of the field `name`. Of a value that is not an object, nothing more is reported."""
        if self._is_object:
            self.problems.append(report(message, self.where, name))

    def read(self, name: str, default: Any = None) -> Any:
        """Return the field as it is written; null counts as absent."""
        self._known.append(name)
        value = self._unread.pop(name, None)
        return default if value is None else value

    def read_object(self, name: str, default: Any = None) -> Fields:
        """Return the fields of the object in this field."""
        return Fields(self.read(name, default), join_place(self.where, name), self.problems)

    def read_text(self, name: str, default: str | None = None) -> str:
        """Return a text; without a default it is required, and must not be empty."""
        value = self.read(name, default)
        if value is None or (default is None and value == ""):
            self.report(name, "is required")
        elif not isinstance(value, str):
            self.report(name, "must be a text")
        else:
            return value
        return default or ""

    def read_optional_text(self, name: str) -> str | None:
        """Return a text, or None where it is absent."""
        return self.read_text(name) if self._unread.get(name) is not None else self.read(name)

    def read_choice(self, name: str, default: Choice) -> Choice:
        """Return a member of the default's enumeration, written in any case of letters."""
        value = self.read(name, default)
        for member in type(default):
            if isinstance(value, str) and value.lower() == member.value.lower():
                return member
        self.report(name, f"must be one of {', '.join(type(default))}")
        return default

    def read_word(self, name: str, words: Collection[str], default: str) -> str:
        """Return one of `words`, written exactly so."""
        value = self.read(name, default)
        if isinstance(value, str) and value in words:
            return value
        self.report(name, f"must be one of {', '.join(words)}")
        return default

    def read_flag(self, name: str, default: bool) -> bool:
        """Return true or false."""
        value = self.read(name, default)
        if isinstance(value, bool):
            return value
        self.report(name, "must be true or false")
        return default

    def read_mapping(self, name: str) -> dict[str, Any]:
        """Return an object as it is written; an absent one is empty."""
        value = self.read(name, {})
        if isinstance(value, Mapping):
            return dict(value)
        self.report(name, "must be an object")
        return {}

    def read_texts(self, name: str) -> dict[str, str]:
        """Return an object of texts; a number is converted to its text."""
        texts = {}
        for key, value in self.read_mapping(name).items():
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                texts[key] = str(value)
            else:
                self.report(f"{name}.{key[:_KEY_CHARACTERS_MAX]}", "must be a text")
        return texts

    def read_integer(self, name: str, *, least: int, most: int) -> int | None:
        """Return a whole number, or None where it is absent."""
        value: int | None = self.read(name)
        if value is None or _is_integer(value, least, most):
            return value
        self.report(name, f"must be a whole number of {least} to {most}")
        return None

    def read_names(self, name: str) -> tuple[str, ...]:
        """Return a list of texts, each once."""
        value = self.read(name, ())
        if isinstance(value, list | tuple) and all(isinstance(text, str) for text in value):
            return tuple(dict.fromkeys(value))
        self.report(name, "must be a list of texts")
        return ()

    def read_statuses(self, name: str, default: tuple[int, ...], *, least: int) -> tuple[int, ...]:
        """Return a list of HTTP statuses of at least `least`, each once."""
        value = self.read(name)
        if value is None:
            return default
        if isinstance(value, list | tuple) and value and all(_is_integer(status, least, _STATUS_MAX) for status in value):
            return tuple(dict.fromkeys(value))
        self.report(name, f"must be a list of HTTP statuses of {least} to {_STATUS_MAX}")
        return default

    def reject_unknown(self) -> None:
        """Report every field that nobody read."""
        for name in self._unread:
            self.report(name, f"is not a field; fields are: {', '.join(self._known)}")


def _is_integer(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most

"""Fields: what an owner wrote at one place of an entry, taken one by one; all that is wrong is gathered."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from ferryman.domain.problem import Problem

Choice = TypeVar("Choice", bound=StrEnum)
_KEY_SHOWN_MAX = 64


def at(where: str, *parts: object) -> str:
    """`parts` below `where`, as a dotted path."""
    return ".".join(str(each)[:_KEY_SHOWN_MAX] for each in (where, *parts) if each != "")


def leaves(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Every scalar in `value`, with its place."""
    if isinstance(value, Mapping | list | tuple):
        for key, inner in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from leaves(inner, at(where, key))
    else:
        yield where, value


def plain_problem(value: Any, where: str, *, depth: int) -> Problem | None:
    """What keeps `value` from being JSON of at most `depth` levels, or None."""
    if isinstance(value, str):
        if _broken(value):
            return Problem(field=where, message="must be valid Unicode")
    elif isinstance(value, Mapping | list | tuple):
        if depth == 0:
            return Problem(field=where, message="is nested too deep")
        if isinstance(value, Mapping) and not all(isinstance(key, str) and not _broken(key) for key in value):
            return Problem(field=where, message="has a name that is no text in valid Unicode")
        for key, inner in value.items() if isinstance(value, Mapping) else enumerate(value):
            if (found := plain_problem(inner, at(where, key), depth=depth - 1)) is not None:
                return found
    elif isinstance(value, float) and not math.isfinite(value):
        return Problem(field=where, message="is no number that JSON can carry")
    elif value is not None and not isinstance(value, bool | int | float):
        return Problem(field=where, message="is of a kind that JSON does not have")
    return None


class Fields:
    """The fields of one object, each taken once; what is left at the end is unknown."""

    def __init__(self, value: Any, where: str, problems: list[Problem]) -> None:
        self.where, self.problems = where, problems
        self._left: dict[str, Any] = dict(value) if isinstance(value, Mapping) else {}
        self._known: list[str] = []
        self._object = isinstance(value, Mapping)
        if not self._object:
            problems.append(Problem(field=where, message="must be an object"))

    def wrong(self, name: str, message: str) -> None:
        """Something is wrong with the field `name`; of what is no object, nothing more is said."""
        if self._object:
            self.problems.append(Problem(field=at(self.where, name), message=message))

    def take(self, name: str, default: Any = None) -> Any:
        """The field as it stands; null is as if it were not there."""
        self._known.append(name)
        value = self._left.pop(name, None)
        return default if value is None else value

    def text(self, name: str, default: str | None = None, *, most: int | None = None) -> str:
        """A text of at most `most` characters; without a default it must be there, and be something."""
        value = self.take(name, default)
        if value is None or (default is None and value == ""):
            self.wrong(name, "is required")
        elif not isinstance(value, str):
            self.wrong(name, "must be a text")
        elif most is not None and len(value) > most:
            self.wrong(name, f"must be at most {most} characters, is {len(value)}")
        else:
            return value
        return default or ""

    def maybe(self, name: str) -> str | None:
        """A text, or None where there is none."""
        return self.text(name) if self._left.get(name) is not None else self.take(name)

    def choice(self, name: str, default: Choice) -> Choice:
        """A member of the default's kind, in any case of letters."""
        value = self.take(name, default)
        for each in type(default):
            if isinstance(value, str) and value.lower() == each.value.lower():
                return each
        self.wrong(name, f"must be one of {', '.join(type(default))}")
        return default

    def word(self, name: str, words: Collection[str], default: str) -> str:
        value = self.take(name, default)
        if not isinstance(value, str) or value not in words:
            self.wrong(name, f"must be one of {', '.join(words)}")
            return default
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self.take(name, default)
        if not isinstance(value, bool):
            self.wrong(name, "must be true or false")
            return default
        return value

    def mapping(self, name: str) -> dict[str, Any]:
        value = self.take(name, {})
        if not isinstance(value, Mapping):
            self.wrong(name, "must be an object")
            return {}
        return dict(value)

    def texts(self, name: str) -> dict[str, str]:
        """An object of texts; a number stands for its text."""
        found = {}
        for key, value in self.mapping(name).items():
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                found[key] = str(value)
            else:
                self.wrong(f"{name}.{key[:_KEY_SHOWN_MAX]}", "must be a text")
        return found

    def whole(self, name: str, *, least: int, most: int) -> int | None:
        value = self.take(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most):
            self.wrong(name, f"must be a whole number of {least} to {most}")
            return None
        return value

    def names(self, name: str) -> tuple[str, ...]:
        """A list of texts, each once."""
        value = self.take(name, ())
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            self.wrong(name, "must be a list of texts")
            return ()
        return tuple(dict.fromkeys(value))

    def statuses(self, name: str, default: tuple[int, ...], *, least: int) -> tuple[int, ...]:
        """HTTP statuses of at least `least`."""
        value = self.take(name)
        if value is None:
            return default
        if not isinstance(value, list | tuple) or not value or not all(_status(each, least) for each in value):
            self.wrong(name, f"must be a list of HTTP statuses of {least} to 599")
            return default
        return tuple(dict.fromkeys(value))

    def end(self) -> None:
        """Nothing else is known here."""
        for name in self._left:
            self.wrong(name, f"is not a field; fields are: {', '.join(self._known)}")


def _status(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= 599


def _broken(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)

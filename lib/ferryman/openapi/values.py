"""Values: what a document has in a place, as the type that it should have or as nothing; and what an import tells its owner."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from ferryman.domain.json_tree import is_unicode

SCALAR_CHARACTERS_MAX = 200
_INTEGER_MAX = 2**63


def to_mapping(value: Any) -> Mapping[str, Any]:
    """Return `value` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def list_members(value: Any, most: int) -> Iterator[tuple[str, Any]]:
    """Yield the first `most` members of an object, without those of YAML whose keys are not texts."""
    return ((key, member) for key, member in islice(to_mapping(value).items(), most) if isinstance(key, str))


def list_items(value: Any, most: int) -> list[Any]:
    """Return the first `most` items of a list."""
    return value[:most] if isinstance(value, list) else []


def list_texts(value: Any, most: int) -> list[str]:
    """Return the texts among the first `most` items of a list."""
    return [item for item in list_items(value, most) if isinstance(item, str)]


def to_line(value: Any, characters: int) -> str:
    """Return `value` as one line of visible characters, cut to `characters` with an ellipsis; "" where it is not a text.

    The model reads what a document says about itself, so that invisible characters must not reach it (prompt injection).
    """
    if not isinstance(value, str):
        return ""
    # Twice as many, since white space is joined; never all of it, which may be a megabyte.
    start = value[: 2 * characters + 1]
    if not start.isprintable():
        start = "".join(character if character.isprintable() else " " * character.isspace() for character in start)
    line = " ".join(start.split())
    return line if len(line) <= characters and len(value) <= 2 * characters + 1 else line[: characters - 1].rstrip() + "…"


def is_plain(value: Any, characters: int) -> bool:
    """Say whether `value` is a text of visible characters, neither empty nor too long, as a name in a request must be."""
    return isinstance(value, str) and 0 < len(value) <= characters and value.isprintable()


def is_scalar(value: Any) -> bool:
    """Say whether the model can be shown `value`, and JSON can represent it: a short text or a number."""
    if isinstance(value, str):
        return len(value) <= SCALAR_CHARACTERS_MAX and is_unicode(value)
    return value is None or isinstance(value, bool) or is_number(value)


def is_number(value: Any) -> bool:
    """Say whether `value` is a number of at most 64 bits; YAML has integers of any length, which cannot be printed."""
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) < _INTEGER_MAX
    return isinstance(value, float) and math.isfinite(value)


NOTES_MAX = 50


class UnsupportedOperationError(Exception):
    """This operation cannot be called from here; the text is the reason why its tool is disabled."""


class Notes:
    """Findings, each with the places where it was found."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = {}
        self.place = ""
        """Where the next findings are: the name of a tool, or "" for the document."""

    def add(self, finding: str) -> None:
        """Note `finding`, once for each place, and at most `NOTES_MAX` different ones."""
        places = self._places.get(finding)
        if places is not None and places[-1] != self.place:
            places.append(self.place)
        elif places is None and len(self._places) < NOTES_MAX:
            self._places[finding] = [self.place]

    def list_lines(self) -> tuple[str, ...]:
        """Return the notes, each with its first place and the number of the others."""
        return tuple(_write_line(finding, *places) for finding, places in self._places.items())


def _write_line(finding: str, first: str, *others: str) -> str:
    if not first:
        return finding
    return f"{first} and {len(others)} more: {finding}" if others else f"{first}: {finding}"

"""Records in results: the key of a thing, which its service made, is trusted where the owner's words name the thing.

A key is no text of a stranger, but which key a call has may be: so it counts only for the one record whose whole name occurs in
trusted text, for arguments of that kind of thing, and never to take something away. A stranger who has given a thing of their
own the very name that the owner says, where there is no other of it, is not told from the owner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.flow.trusted import VALUE_CHARACTERS_MIN, Match, TrustedText, find_trusted
from ferryman.domain.flow.words import share_word, split_words
from ferryman.domain.labels.label import Source

RECORDS_MAX = 10_000
"""How many records of an execution are remembered; of what it reads after them none is named."""

SAME_MAX = 100
"""How many records may have one key, or one name, and still be told apart."""

_KEYS = (("id",), ("uuid",))
_NAMES = (("title",), ("subject",), ("name",), ("filename",), ("file", "name"), ("display", "name"), ("full", "name"))


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRecord:
    """A record that a tool returned: the key and the name of a thing, and what kinds of things it may be."""

    key: str
    name: str = field(repr=False)
    things: tuple[str, ...]
    source: Source


def list_records(result: Any, source: Source) -> Iterator[NamedRecord]:
    """Yield the records in a result, a JSON value: what has exactly one key, and a name."""
    things, room, stack = split_words(source.tool), RECORDS_MAX, [result]
    while stack and room:
        value = stack.pop()
        if isinstance(value, Mapping):
            keys = [str(inner) for field_name, inner in value.items() if _is_field(field_name, inner, _KEYS)]
            names = [str(inner) for field_name, inner in value.items() if _is_field(field_name, inner, _NAMES)]
            if len(keys) == 1 and names:
                room -= 1
                yield NamedRecord(key=keys[0], name=names[0], things=things, source=source)
            stack.extend(value.values())
        elif isinstance(value, list | tuple):
            stack.extend(reversed(value))


@dataclass(slots=True, kw_only=True)
class RecordIndex:
    """The records that an execution has read, by their keys and by their names: the first `RECORDS_MAX` of them.

    `most_same` is the highest number of records that have one key.
    """

    by_key: dict[str, list[NamedRecord]] = field(default_factory=dict, repr=False)
    by_name: dict[str, list[NamedRecord]] = field(default_factory=dict, repr=False)
    most_same: int = 0
    _known: set[NamedRecord] = field(default_factory=set, repr=False)

    def add(self, records: Iterable[NamedRecord]) -> None:
        """Remember further records."""
        for record in records:
            if len(self._known) >= RECORDS_MAX:
                return
            if record not in self._known:
                self._known.add(record)
                same = self.by_key.setdefault(record.key, [])
                same.append(record)
                self.by_name.setdefault(_fold(record.name), []).append(record)
                self.most_same = max(self.most_same, len(same))

    def find(self, key: object, things: Sequence[str], texts: Sequence[TrustedText]) -> tuple[NamedRecord, Match] | None:
        """Return the record with this key, of one of these kinds of things, whose name occurs in trusted text, and where.

        None where there is none, and where another thing of that kind has the same name.
        """
        same_key = self.by_key.get(str(key), ())
        for record in same_key if len(same_key) <= SAME_MAX else ():
            if not share_word(tuple(things), record.things) or len(record.name.strip()) < VALUE_CHARACTERS_MIN:
                continue
            same_name = self.by_name[_fold(record.name)]
            if len(same_name) > SAME_MAX:
                continue
            match = find_trusted(texts, record.name)
            keys = {other.key for other in same_name if share_word(tuple(things), other.things)}
            if match is not None and keys == {record.key}:
                return record, match
        return None


def index_records(records: Iterable[NamedRecord]) -> RecordIndex:
    """Return an index of records."""
    index = RecordIndex()
    index.add(records)
    return index


def _fold(name: str) -> str:
    return " ".join(name.split()).casefold()


def _is_field(name: object, value: object, names: tuple[tuple[str, ...], ...]) -> bool:
    return isinstance(name, str) and isinstance(value, str | int) and not isinstance(value, bool) and split_words(name) in names

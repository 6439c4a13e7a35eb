"""What the calls of an execution are judged by, in a form for which each text is read once, however many calls are judged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.flow.judging import FlowContext
from ferryman.domain.flow.records import SAME_MAX, NamedRecord, RecordIndex, list_records
from ferryman.domain.flow.trusted import TrustedText, index_text
from ferryman.domain.flow.values import FlowValue
from ferryman.domain.json_tree import walk
from ferryman.domain.labels.label import READ, FlowLabel, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadResult:
    """A result that the model has read: of which tool, of the call with which number, its texts, and which are JSON.

    `arguments` are those of the call, and `label` is theirs; `ok` tells whether it did what it was asked.
    """

    tool: str
    call: int
    texts: tuple[str, ...] = field(repr=False)
    documents: tuple[str, ...] = field(default=(), repr=False)
    arguments: Mapping[str, Any] = field(default_factory=dict, repr=False)
    label: FlowLabel = READ
    ok: bool = True

    @property
    def source(self) -> str:
        """What it is, for who reads why."""
        return f"the result of call {self.call + 1} ({self.tool})"

    def measure(self) -> int:
        """Return how many characters have to be read."""
        return sum(map(len, self.texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedResult:
    """What calls are judged by of a result: its texts, ready for values to be found in them, and its records."""

    texts: tuple[TrustedText, ...]
    records: tuple[NamedRecord, ...]


@dataclass(slots=True, kw_only=True)
class FlowMemory:
    """What is known of an execution: what people wrote, and the results that were read so far.

    `trusted` are the texts of people, then those of results that are trusted by what was trusted before them. `declassified`
    are the values that people declassified, each with who did.
    """

    written: tuple[TrustedText, ...] = field(repr=False)
    declassified: Mapping[str, str] = field(default_factory=dict, repr=False)
    trusted: list[TrustedText] = field(default_factory=list, repr=False)
    read: list[TrustedText] = field(default_factory=list, repr=False)
    records: RecordIndex = field(default_factory=RecordIndex, repr=False)

    def __post_init__(self) -> None:
        """Begin with what people wrote."""
        self.trusted += self.written

    def add(self, result: IndexedResult, *, is_trusted: bool) -> None:
        """Take in a result that the model has read."""
        self.read += result.texts
        self.records.add(result.records)
        if is_trusted:
            self.trusted += result.texts

    def measure_search(self, values: int) -> int:
        """Return how many characters are looked at for so many values that are in no text."""
        trusted, read = (sum(len(text.text) for text in texts) for texts in (self.trusted, self.read))
        return values * (trusted * (1 + min(self.records.most_same, SAME_MAX)) + read)

    def build_first_context(self, label: FlowLabel) -> FlowContext:
        """Return what a call is judged by first: what people wrote, and what they declassified."""
        return FlowContext(label=label, trusted=self.written, declassified=self.declassified)

    def build_context(self, label: FlowLabel) -> FlowContext:
        """Return all that a call is judged by."""
        return FlowContext(
            label=label, trusted=self.trusted, declassified=self.declassified, read=self.read, records=self.records
        )


def index_written(written: Sequence[tuple[str, str]]) -> tuple[TrustedText, ...]:
    """Return what people wrote, ready for values to be found in it."""
    return tuple(index_text(source, text) for source, text in written)


def index_results(results: Sequence[ReadResult]) -> list[IndexedResult]:
    """Return what calls are judged by of results."""
    return [
        IndexedResult(
            texts=tuple(index_text(result.source, text) for text in result.texts), records=tuple(_list_records(result))
        )
        for result in results
    ]


def measure_arguments(arguments: Mapping[str, Any]) -> int:
    """Return about how many characters the values of a call have, and the names in its objects."""
    characters = 0
    for _, value in walk(arguments):
        if isinstance(value, FlowValue):
            characters += measure_arguments({"value": value.value})
        elif isinstance(value, Mapping):
            characters += sum(map(len, value))
        else:
            characters += len(value) if isinstance(value, str) else 1
    return characters


def _list_records(result: ReadResult) -> Iterator[NamedRecord]:
    for document in result.documents:
        try:
            value = json.loads(document)
        except (ValueError, RecursionError):
            continue
        yield from list_records(value, Source(tool=result.tool, call=result.call))

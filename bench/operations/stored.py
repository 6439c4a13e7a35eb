"""Stored: the bytes that documents and their index entries take, as Firestore's page on storage sizes reckons them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from emulator.firestore import DocumentChange
from emulator.firestore.paths import collection_of, last_of, name_size
from emulator.firestore.values import fields_size, size
from emulator.firestore.wire import Document

DOCUMENT_BYTES = 32
ENTRY_BYTES = 32
INDEXED_BYTES_MAX = 1_500
"""Of a longer value, an index keeps this much."""

DIRECTIONS = 2
"""Every field that is neither a map nor an array has an entry in an ascending and in a descending index."""


class Shelf:
    """The documents of a Firestore whose changes it is told, as they stand."""

    def __init__(self, indexes: Path) -> None:
        declared = json.loads(indexes.read_text())
        self._composite = [
            (item["collectionGroup"], [entry["fieldPath"] for entry in item["fields"]]) for item in declared["indexes"]
        ]
        self._exempt = {
            (element["collectionGroup"], element["fieldPath"])
            for element in declared["fieldOverrides"]
            if not element["indexes"]
        }
        self._documents: dict[str, Document] = {}

    def changed(self, change: DocumentChange) -> None:
        """Keep what a document has become."""
        self._documents.pop(change.name, None)
        if change.after is not None:
            self._documents[change.name] = change.after

    def bytes_of(self, execution: str) -> int:
        """Return what an execution's documents take with their index entries, those of its ledger included."""
        return sum(self._taken(each) for name, each in self._documents.items() if _belongs(name, execution))

    def _taken(self, document: Document) -> int:
        return name_size(document.name) + fields_size(document.fields) + DOCUMENT_BYTES + sum(self._entries(document))

    def _entries(self, document: Document) -> Iterator[int]:
        collection = last_of(collection_of(document.name))
        every = name_size(document.name) + name_size(collection_of(collection_of(document.name))) + ENTRY_BYTES
        values = dict(_leaves(document.fields))
        for path, value in values.items():
            if (collection, path) in self._exempt:
                continue
            if value.WhichOneof("value_type") == "array_value":
                yield from (every + len(path) + 1 + _indexed(item) for item in value.array_value.values)
            else:
                yield DIRECTIONS * (every + len(path) + 1 + _indexed(value))
        for group, fields in self._composite:
            if group == collection and all(field in values for field in fields):
                yield every + sum(_indexed(values[field]) for field in fields)


def _belongs(name: str, execution: str) -> bool:
    return execution in name


def _leaves(fields: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        path = f"{above}.{name}" if above else name
        if value.WhichOneof("value_type") == "map_value":
            yield from _leaves(value.map_value.fields, path)
        else:
            yield path, value


def _indexed(value: Any) -> int:
    return min(size(value), INDEXED_BYTES_MAX)

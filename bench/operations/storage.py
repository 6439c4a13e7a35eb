"""The bytes that documents and their index entries take, calculated as Firestore's page on storage sizes says."""

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
"""An index stores at most so many bytes of a value."""

EVERY = "*"
DIRECTIONS = 2
"""Of a field that is neither a map nor an array, ascending and descending, where nothing else is declared."""


class StoredDocuments:
    """The current documents of a Firestore, kept up to date by its changes."""

    def __init__(self, indexes: Path) -> None:
        declared = json.loads(indexes.read_text())
        self._composite = [
            (index["collectionGroup"], [field["fieldPath"] for field in index["fields"]]) for index in declared["indexes"]
        ]
        self._single = {
            (override["collectionGroup"], override["fieldPath"]): len(override["indexes"])
            for override in declared["fieldOverrides"]
        }
        self._documents: dict[str, Document] = {}

    def apply_change(self, change: DocumentChange) -> None:
        """Apply a change: store the document, or remove it."""
        self._documents.pop(change.name, None)
        if change.after is not None:
            self._documents[change.name] = change.after

    def count_bytes(self, execution: str) -> int:
        """Return the bytes of an execution's documents and their index entries, those of its ledger included."""
        return sum(self._measure_document(document) for name, document in self._documents.items() if _is_of(name, execution))

    def _measure_document(self, document: Document) -> int:
        return name_size(document.name) + fields_size(document.fields) + DOCUMENT_BYTES + sum(self._list_entry_sizes(document))

    def _list_entry_sizes(self, document: Document) -> Iterator[int]:
        collection = last_of(collection_of(document.name))
        entry_bytes = name_size(document.name) + name_size(collection_of(collection_of(document.name))) + ENTRY_BYTES
        values = dict(_walk_leaves(document.fields))
        for path, value in values.items():
            indexes = self._count_indexes(collection, path)
            if value.WhichOneof("value_type") == "array_value" and indexes:
                yield from (entry_bytes + len(path) + 1 + _count_indexed_bytes(item) for item in value.array_value.values)
            else:
                yield indexes * (entry_bytes + len(path) + 1 + _count_indexed_bytes(value))
        for group, fields in self._composite:
            if group == collection and all(field in values for field in fields):
                yield entry_bytes + sum(_count_indexed_bytes(values[field]) for field in fields)

    def _count_indexes(self, collection: str, path: str) -> int:
        """Return how many indexes a field has by itself: as declared for it, the map around it, every field, or by default."""
        while path:
            if (collection, path) in self._single:
                return self._single[collection, path]
            path = path.rpartition(".")[0]
        return self._single.get((collection, EVERY), DIRECTIONS)


def _is_of(name: str, execution: str) -> bool:
    return execution in name


def _walk_leaves(fields: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        path = f"{above}.{name}" if above else name
        if value.WhichOneof("value_type") == "map_value":
            yield from _walk_leaves(value.map_value.fields, path)
        else:
            yield path, value


def _count_indexed_bytes(value: Any) -> int:
    return min(size(value), INDEXED_BYTES_MAX)

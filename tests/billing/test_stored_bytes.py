"""The bytes that documents take: an index has entries of a field where one is declared, or where nothing is."""

import json
from datetime import UTC, datetime

import pytest

from bench.operations.storage import StoredDocuments
from emulator.firestore import DocumentChange
from emulator.firestore.wire import Document

NAME = "projects/p/databases/(default)/documents/executions/e"
NOTHING, ASCENDING = [], [{"order": "ASCENDING"}]


def count(tmp_path, *overrides):
    path = tmp_path / "indexes.json"
    rows = [{"collectionGroup": "executions", "fieldPath": field, "indexes": indexes} for field, indexes in overrides]
    path.write_text(json.dumps({"indexes": [], "fieldOverrides": rows}))
    document = Document(name=NAME)
    document.fields["a"].map_value.fields["b"].integer_value = 1
    stored = StoredDocuments(path)
    stored.apply_change(DocumentChange(name=NAME, before=None, after=document, at=datetime.now(UTC)))
    return stored.count_bytes("e")


@pytest.mark.parametrize(
    ("overrides", "entries"),
    [
        ((), 2),
        ((("*", NOTHING),), 0),
        ((("*", NOTHING), ("a.b", ASCENDING)), 1),
        ((("*", NOTHING), ("a", ASCENDING)), 1),
        ((("a", NOTHING),), 0),
        ((("other", NOTHING),), 2),
    ],
)
def test_a_field_has_the_entries_that_are_declared(tmp_path, overrides, entries):
    bare = count(tmp_path, ("*", NOTHING))
    entry = count(tmp_path, ("*", ASCENDING)) - bare
    assert count(tmp_path, *overrides) == bare + entries * entry

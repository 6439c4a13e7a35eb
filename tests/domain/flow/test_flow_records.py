"""Named records: the key of the one thing that the owner's words name."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.domain.flow.records import index_records, list_records
from ferryman.domain.flow.trusted import index_text
from ferryman.domain.labels.label import Source

TEXTS = [index_text("prompt", "Add it to the file 'weekly-report.docx', and call the Board Meeting off.")]


def finds(key: object, thing: str, *records: dict[str, Any], tool: str = "find_documents") -> bool:
    read = list_records(list(records), Source(tool=tool, call=0))
    return index_records(read).find(key, (thing,), TEXTS) is not None


REPORT = {"id": 7, "filename": "weekly-report.docx"}


def test_the_key_of_a_thing_that_is_named_is_found():
    assert finds("7", "document", REPORT)


def test_the_key_of_another_thing_is_not():
    assert not finds("8", "document", REPORT, {"id": 8, "filename": "other.docx"})


def test_a_thing_of_another_kind_is_not_meant():
    assert not finds("7", "event", REPORT)


def test_two_things_of_the_same_name_are_told_apart_by_nobody():
    assert not finds("7", "document", REPORT, {"id": 9, "filename": "weekly-report.docx"})


def test_the_same_thing_read_twice_is_one():
    assert finds("7", "document", REPORT, REPORT)


@pytest.mark.parametrize("name", ["report", "weekly", "a", "docx"])
def test_a_part_of_a_name_is_none(name):
    assert not finds("7", "document", {"id": 7, "filename": name})


@pytest.mark.parametrize(
    "record", [{"owner_id": 7, "filename": "weekly-report.docx"}, {"id": 7, "description": "weekly-report.docx"}]
)
def test_a_key_of_something_else_and_a_text_that_is_no_name_do_not_count(record):
    assert not finds("7", "document", record)


def test_a_record_within_a_record_is_one():
    assert finds("7", "document", {"page": {"rows": [REPORT]}})


def test_a_result_that_is_nested_deep_is_read_without_recursion():
    value: Any = REPORT
    for _ in range(50_000):
        value = [value]
    assert [record.key for record in list_records(value, Source(tool="list_documents", call=0))] == ["7"]

"""Events: what a function is told of a change, in the form that Eventarc gives it."""

from datetime import timedelta, timezone

import pytest
from cloudevents.http import from_http
from google.cloud.firestore_v1.types import Document, Value
from google.events.cloud.firestore import DocumentEventData
from hypothesis import given
from hypothesis import strategies as st

from emulator.triggers import event
from emulator.triggers.pattern import compile_pattern
from tests.emulator.triggers.conftest import ROOT, START, Changed, created, document

TYPE = "google.cloud.firestore.document.v1."
NAME = f"{ROOT}/executions/x"


def change(before, after) -> Changed:
    return Changed(name=NAME, before=before, after=after, at=START)


def decode_event(changed: Changed) -> DocumentEventData:
    return DocumentEventData.deserialize(event.body(changed))


def test_a_new_document_was_created_and_written():
    assert event.list_kinds(created("executions/x")) == (f"{TYPE}created", f"{TYPE}written")
    data = decode_event(created("executions/x", status="queued"))
    assert data.value.name == NAME
    assert data.value.fields["status"].string_value == "queued"
    assert not data.old_value.name
    assert not data.update_mask.field_paths


def test_a_changed_document_was_updated_and_written():
    changed = change(document("executions/x", a="1", b="2", c="3"), document("executions/x", a="1", b="4", d="5"))
    assert event.list_kinds(changed) == (f"{TYPE}updated", f"{TYPE}written")
    data = decode_event(changed)
    assert data.old_value.fields["b"].string_value == "2"
    assert data.value.fields["b"].string_value == "4"
    assert data.update_mask.field_paths == ["b", "c", "d"]


def test_a_removed_document_was_deleted_and_written():
    changed = change(document("executions/x", a="1"), None)
    assert event.list_kinds(changed) == (f"{TYPE}deleted", f"{TYPE}written")
    data = decode_event(changed)
    assert not data.value.name
    assert data.old_value.fields["a"].string_value == "1"


def test_a_write_that_changes_nothing_is_no_event():
    nan = Document(name=NAME, fields={"n": {"double_value": float("nan")}})._pb
    assert event.list_kinds(change(nan, nan)) == ()
    assert event.list_kinds(change(None, None)) == ()


def test_the_mask_names_fields_inside_of_maps():
    def inside(**fields) -> Document:
        return Document(name=NAME, fields={"outer": {"map_value": {"fields": fields}}, "a-b": {"boolean_value": True}})._pb

    old = inside(same=Value(integer_value=1), other=Value(integer_value=1))
    new = inside(same=Value(integer_value=1), other=Value(integer_value=2), more=Value(null_value=0))
    del new.fields["a-b"]
    assert list(decode_event(change(old, new)).update_mask.field_paths) == ["`a-b`", "outer.more", "outer.other"]


def test_the_headers_say_what_happened_where_and_when():
    headers = event.headers(created("executions/x"), event=f"{TYPE}created", number="7", location="here")
    assert headers == {
        "content-type": "application/protobuf",
        "ce-specversion": "1.0",
        "ce-id": "7",
        "ce-type": f"{TYPE}created",
        "ce-source": "//firestore.googleapis.com/projects/test/databases/(default)",
        "ce-subject": "documents/executions/x",
        "ce-time": "2026-01-01T00:00:00.000000Z",
        "ce-datacontenttype": "application/protobuf",
        "ce-dataschema": event.SCHEMA,
        "ce-project": "test",
        "ce-database": "(default)",
        "ce-namespace": "(default)",
        "ce-document": "executions/x",
        "ce-location": "here",
    }


def test_the_time_is_told_in_utc():
    moment = START.astimezone(timezone(timedelta(hours=2)))
    changed = Changed(name=NAME, before=None, after=document("executions/x"), at=moment)
    headers = event.headers(changed, event="", number="", location="")
    assert headers["ce-time"] == "2026-01-01T00:00:00.000000Z"


def test_a_function_reads_it_as_a_cloudevent():
    changed = created("executions/x", status="queued")
    headers = event.headers(changed, event=f"{TYPE}created", number="7", location="here")
    read = from_http(headers, event.body(changed), data_unmarshaller=lambda data: data)
    assert read["type"] == f"{TYPE}created"
    assert read["subject"] == "documents/executions/x"
    assert read["datacontenttype"] == "application/protobuf"
    assert DocumentEventData.deserialize(read.data).value.name == NAME


@given(st.text(min_size=1).filter(lambda name: "/" not in name))
def test_no_name_of_a_document_breaks_out_of_its_header(name):
    changed = Changed(name=f"{ROOT}/executions/{name}", before=None, after=None, at=START)
    for value in event.headers(changed, event="", number="", location="").values():
        assert all(" " < char <= "~" for char in value)


@given(st.integers(0, 100_000))
def test_a_document_of_any_size_comes_through(size):
    changed = created("executions/x", text="x" * size)
    assert decode_event(changed).value.fields["text"].string_value == "x" * size


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("executions/{execution}", "executions/x", True),
        ("executions/{execution}", "executions/x/steps/1", False),
        ("executions/{execution}", "tasks/x", False),
        ("executions/{execution}", "old/x/executions/x", False),
        ("executions/{execution=*}", "executions/x", True),
        ("executions/*", "executions/x", True),
        ("executions/x", "executions/x", True),
        ("executions/x", "executions/y", False),
        ("executions/x.y", "executions/xzy", False),
        ("executions/{id}/steps/{n}", "executions/x/steps/1", True),
        ("executions/{rest=**}", "executions/x", True),
        ("executions/{rest=**}", "executions/x/steps/1", True),
        ("executions/{rest=**}", "executions", False),
        ("{any=**}/steps/{n}", "executions/x/steps/1", True),
    ],
)
def test_a_pattern_fits_the_paths_it_describes(pattern, path, fits):
    assert bool(compile_pattern(pattern).fullmatch(path)) is fits


@pytest.mark.parametrize("pattern", ["", "/executions/x", "executions/", "executions/a{b}", "executions/{a", "a*/b"])
def test_a_pattern_that_is_none_is_refused(pattern):
    with pytest.raises(ValueError, match="document pattern"):
        compile_pattern(pattern)

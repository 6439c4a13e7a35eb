"""Values that are handed on unread: references, and what is extracted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.flow.values import (
    FlowValue,
    ValueReference,
    drop_labels,
    label_extracted,
    read_reference,
    resolve_reference,
)
from ferryman.domain.labels.label import BOTTOM, OWNED, READ, join

RESULTS = {3: FlowValue(value=[{"id": 7, "names": ["a"]}], label=READ)}
LABELS = st.lists(st.sampled_from([BOTTOM, OWNED, READ]), max_size=4)


def test_a_reference_is_read():
    assert read_reference({"$from": {"call": 3, "path": ["0", "id"]}}) == ValueReference(call=3, path=("0", "id"))


@pytest.mark.parametrize(
    "value", [None, "x", {}, {"$from": 3}, {"$from": {"call": "3"}}, {"$from": {"call": True}}, {"$from": {"call": 3}, "x": 1}]
)
def test_anything_else_is_none(value):
    assert read_reference(value) is None


def test_a_reference_is_resolved_with_the_label_of_its_result():
    assert resolve_reference(ValueReference(call=3, path=("0", "id")), RESULTS) == FlowValue(value=7, label=READ)


@pytest.mark.parametrize("path", [("1",), ("0", "x"), ("-1",), ("0", "id", "x"), ("9" * 30,)])
def test_a_reference_to_nothing_is_none(path):
    assert resolve_reference(ValueReference(call=3, path=path), RESULTS) is None


@given(LABELS)
def test_what_is_extracted_has_the_join_of_what_it_was_read_from(labels):
    assert label_extracted(True, labels).label == join(labels)


def test_what_is_sent_has_no_labels():
    assert drop_labels({"to": [FlowValue(value={"a": 1}, label=READ)]}) == {"to": [{"a": 1}]}

"""Ordered collections: a query finds what a read of all documents finds, at any moment, and reads few."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.firestore import history as histories
from emulator.firestore.history import History, Version
from emulator.firestore.query import Query
from emulator.firestore.wire import Document, StructuredQuery

DATABASE = "projects/p/databases/d"
PARENT = f"{DATABASE}/documents"
VALUES = st.sampled_from([1, 2, 2.0, float("nan"), "a", None, True])
FIELDS = st.fixed_dictionaries({}, optional={"owner": st.sampled_from(["ann", "bob"]), "at": VALUES, "on": st.booleans()})
CHANGES = st.lists(st.tuples(st.integers(0, 9), st.none() | FIELDS), max_size=30)


def encode(value: Any) -> dict[str, Any]:
    kinds = {bool: "boolean_value", int: "integer_value", float: "double_value", str: "string_value"}
    return {"null_value": 0} if value is None else {kinds[type(value)]: value}


def write(history: History, number: int, at: int, fields: dict[str, Any] | None) -> None:
    name = f"{PARENT}/c/{number}"
    document = None
    if fields is not None:
        document = Document(name=name, fields={field: encode(value) for field, value in fields.items()})
    history.add(Version(name=name, at=at, document=document))


def compare(path: str, operator: str, value: Any) -> dict[str, Any]:
    return {"field_filter": {"field": {"field_path": path}, "op": operator, "value": encode(value)}}


@st.composite
def queries(draw: st.DrawFn) -> Any:
    filters = []
    if draw(st.booleans()):
        filters.append(compare("owner", "EQUAL", draw(st.sampled_from(["ann", "bob", "cyd"]))))
    if draw(st.booleans()):
        filters.append(compare("on", "EQUAL", draw(st.booleans())))
    if draw(st.booleans()):
        operator = draw(st.sampled_from(["GREATER_THAN", "GREATER_THAN_OR_EQUAL", "LESS_THAN", "LESS_THAN_OR_EQUAL"]))
        filters.append(compare("at", operator, draw(VALUES)))
    direction = draw(st.sampled_from(["ASCENDING", "DESCENDING"]))
    query: dict[str, Any] = {"from_": [{"collection_id": "c"}]}
    query["order_by"] = [{"field": {"field_path": path}, "direction": direction} for path in ("at", "__name__")]
    if filters:
        composite = {"op": draw(st.sampled_from(["AND", "OR"])), "filters": filters}
        query["where"] = {"composite_filter": composite}
    for cursor in ("start_at", "end_at"):
        if draw(st.booleans()):
            values = [encode(draw(VALUES)), {"reference_value": f"{PARENT}/c/{draw(st.integers(0, 9))}"}]
            query[cursor] = {"values": values[: draw(st.integers(1, 2))], "before": draw(st.booleans())}
    if draw(st.booleans()):
        query["limit"] = {"value": draw(st.integers(0, 4))}
    query["offset"] = draw(st.integers(0, 2))
    return StructuredQuery(**query)


@settings(max_examples=300, deadline=None)
@given(first=CHANGES, second=CHANGES, structured=st.lists(queries(), min_size=1, max_size=3), past=st.booleans())
def test_an_order_finds_what_a_read_of_all_documents_finds(first: Any, second: Any, structured: list[Any], past: bool) -> None:
    results = []
    for large in (0, 1_000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(histories, "LARGE", large)
            history, at, answers = History(DATABASE, horizon=0), 0, []
            for changes in (first, second):
                for number, fields in changes:
                    at += 1
                    write(history, number, at, fields)
                moment = max(0, at - 1) if past else at
                answers += [[version.name for version in Query(history, PARENT, query).run(moment)] for query in structured]
            results.append(answers)
    assert results[0] == results[1]


class CountingQuery(Query):
    """A query that counts the documents it reads."""

    read_count = 0

    def matches(self, version: Version) -> bool:
        self.read_count += 1
        return super().matches(version)


@pytest.mark.parametrize("direction", ["ASCENDING", "DESCENDING"])
@pytest.mark.parametrize("cursor", [{}, {"start_at": {"values": [encode(500)], "before": False}}])
def test_a_page_of_a_large_collection_reads_what_is_on_it_alone(direction: str, cursor: dict[str, Any]) -> None:
    history = History(DATABASE, horizon=0)
    for number in range(1_000):
        write(history, number, number, {"owner": "ann", "at": number})
    where = {
        "composite_filter": {"op": "AND", "filters": [compare("owner", "EQUAL", "ann"), compare("at", "GREATER_THAN", -1)]}
    }
    query = StructuredQuery(
        from_=[{"collection_id": "c"}],
        where=where,
        order_by=[{"field": {"field_path": "at"}, "direction": direction}],
        limit={"value": 10},
        **cursor,
    )
    counting = CountingQuery(history, PARENT, query)
    assert len(counting.run(1_000)) == 10
    assert counting.read_count <= 11

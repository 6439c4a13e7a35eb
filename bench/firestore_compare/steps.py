"""Random writes, transactions and queries, as plain values that any Firestore and the model can run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

DOCUMENTS = ("c/1", "c/2", "c/3", "c/1/c/1", "d/1")
PATHS = ("a", "b", "m.x", "tags")
CONDITIONS = (None, None, None, "exists", "missing", "current", "stale")
REMOVED = "<removed>"
"""The value in an update of a field that its mask names and its fields leave out."""
TRANSFORMS = ("increment", "maximum", "minimum", "append_missing_elements", "remove_all_from_array", "set_to_server_value")
RANGES = ("LESS_THAN", "LESS_THAN_OR_EQUAL", "GREATER_THAN", "GREATER_THAN_OR_EQUAL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write: `kind` is set, update, delete or transform. `content` is fields by name, values by path, or the
    operands of transforms by path and kind; `condition` names a precondition."""

    kind: str
    document: str
    content: Any = None
    condition: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """One query of the collection c, or of its group: filters as (path, operator, value), orders as (path, descending),
    cursors as (value of the first order, before). `total` asks for a count or the sum of a path instead of documents."""

    group: bool
    filters: tuple[tuple[str, str, Any], ...]
    orders: tuple[tuple[str, bool], ...]
    limit: int
    offset: int
    start: tuple[Any, bool] | None
    end: tuple[Any, bool] | None
    total: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transact:
    """One transaction, alone while it runs: reads, then writes, then its `end`: commit, rollback, or commit twice."""

    read_only: bool
    reads: tuple[str | Find, ...]
    writes: tuple[Write, ...]
    end: str


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([-1.5, 0.5, 1.0, 2.0, 1e300, math.nan, math.inf]),
    st.sampled_from(["", "a", "b", "é", "\U0001f600", "\uffff", "a\0"]),
    st.sampled_from([b"", b"a", b"\xff"]),
)
values = st.one_of(
    scalars,
    st.lists(scalars, max_size=3),
    st.dictionaries(st.sampled_from(["x", "y", "é.`\\"]), st.one_of(scalars, st.lists(scalars, max_size=2)), max_size=2),
)
contents = st.dictionaries(st.sampled_from(["a", "b", "tags"]), values, max_size=3).flatmap(
    lambda fields: st.dictionaries(st.just("x"), values, max_size=1).map(
        lambda inner: {**fields, **({"m": inner} if inner else {})}
    )
)
documents = st.sampled_from(DOCUMENTS)
conditions = st.sampled_from(CONDITIONS)
# Values that compare for equality: NaN does not as production's clients send it, nor null within a list.
operands = scalars.filter(lambda value: value is not None and value == value)

sets = st.builds(Write, kind=st.just("set"), document=documents, content=contents, condition=conditions)
updates = st.builds(
    Write,
    kind=st.just("update"),
    document=documents,
    content=st.dictionaries(st.sampled_from(["a", "b", "m.x", "m.y"]), st.just(REMOVED) | values, min_size=1, max_size=3),
    condition=conditions,
)
deletes = st.builds(Write, kind=st.just("delete"), document=documents, condition=conditions)


def choose_operand(kind: str) -> st.SearchStrategy[Any]:
    if kind == "set_to_server_value":
        return st.just("REQUEST_TIME")
    if kind in {"append_missing_elements", "remove_all_from_array"}:
        return st.lists(scalars, max_size=3)
    return st.integers(-3, 3) | st.sampled_from([0.5, 1.0, -2.5, math.nan, 2**63 - 1, -(2**63)])


transforms = st.builds(
    Write,
    kind=st.just("transform"),
    document=documents,
    content=st.dictionaries(
        st.sampled_from(["a", "b", "m.x", "tags"]),
        st.sampled_from(TRANSFORMS).flatmap(lambda kind: st.tuples(st.just(kind), choose_operand(kind))),
        min_size=1,
        max_size=2,
    ),
    condition=conditions,
)
writes = sets | sets | updates | transforms | deletes
# A document once in each commit, for a time that is compared within the commit that sets it is nobody's promise.
commits = st.lists(writes, min_size=1, max_size=3, unique_by=lambda write: write.document).map(tuple)

paths = st.sampled_from(PATHS)
plain = st.tuples(paths, st.sampled_from(["EQUAL", *RANGES]), operands)
excluding = st.tuples(paths, st.just("NOT_EQUAL"), operands) | st.tuples(
    paths, st.just("NOT_IN"), st.lists(operands, min_size=1, max_size=3)
)
unary = st.tuples(paths, st.sampled_from(["IS_NULL", "IS_NAN", "IS_NOT_NULL", "IS_NOT_NAN"]), st.none())
listed = st.tuples(paths, st.just("IN"), st.lists(operands, min_size=1, max_size=3))
arrays = st.tuples(st.just("tags"), st.just("ARRAY_CONTAINS"), operands) | st.tuples(
    st.just("tags"), st.just("ARRAY_CONTAINS_ANY"), st.lists(operands, min_size=1, max_size=3)
)
filters = st.one_of(
    st.just(()),
    st.tuples(plain),
    st.tuples(excluding),
    st.tuples(unary),
    st.tuples(listed),
    st.tuples(arrays),
    st.tuples(plain, plain),
    st.tuples(plain, excluding),
    st.tuples(plain, arrays),
    st.tuples(listed, plain),
)
orders = st.lists(st.tuples(paths, st.booleans()), max_size=2, unique_by=lambda order: order[0]).map(tuple)
cursors = st.none() | st.tuples(operands, st.booleans())
finds = st.builds(
    Find,
    group=st.booleans(),
    filters=filters,
    orders=orders,
    limit=st.sampled_from([0, 0, 1, 2, 3]),
    offset=st.sampled_from([0, 0, 0, 1, 2]),
    start=cursors,
    end=cursors,
    total=st.sampled_from([None, None, None, None, "", "a"]),
)
transactions = st.builds(
    Transact,
    read_only=st.sampled_from([False, False, False, True]),
    reads=st.lists(documents | finds, max_size=3).map(tuple),
    writes=st.just(()) | commits,
    end=st.sampled_from(["commit", "commit", "rollback", "twice"]),
)

LONG = "x" * 1_048_576


def nest(depth: int) -> dict[str, Any]:
    return {"x": nest(depth - 1)} if depth else {}


refused_steps: st.SearchStrategy[Any] = st.sampled_from(
    [
        (Write(kind="set", document="c/1", content={"a": [[1]]}),),
        (Write(kind="set", document="c/1", content={"a": LONG}),),
        (Write(kind="set", document="c/1", content=nest(22)),),
        (Write(kind="set", document="c/1", content={"__a__": 1}),),
        (Write(kind="set", document="c/1", content={"": 1}),),
        (Write(kind="set", document="c/__a__", content={}),),
        (Write(kind="set", document="__a__/1", content={}),),
        (Write(kind="set", document="c/" + "x" * 1501, content={}),),
        (Write(kind="transform", document="c/1", content={"a": ("increment", "text")}),),
        Find(
            group=False, filters=(("a", "IN", list(range(31))),), orders=(), limit=0, offset=0, start=None, end=None, total=None
        ),
        Find(group=False, filters=(("a", "IN", []),), orders=(), limit=0, offset=0, start=None, end=None, total=None),
    ]
)
"""Commits and queries that every Firestore answers with INVALID_ARGUMENT."""

"""JSON trees: the order and the paths of a walk, the map over leaves, and what is not JSON."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.json_tree import find_fault, is_too_deep, is_unicode, iterate_leaves, map_leaves, walk

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


def nest(depth: int, value: Any = 0) -> Any:
    for _ in range(depth):
        value = [value]
    return value


def recurse(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Walk by recursion, the plain way."""
    yield path, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from recurse(child, (*path, key))


def test_a_walk_names_each_value_by_its_path_outer_before_inner_and_in_order():
    value = {"a": [1, {"b": 2}], "c": (3,), "d": "text"}
    assert list(walk(value)) == [
        ((), value),
        (("a",), [1, {"b": 2}]),
        (("a", 0), 1),
        (("a", 1), {"b": 2}),
        (("a", 1, "b"), 2),
        (("c",), (3,)),
        (("c", 0), 3),
        (("d",), "text"),
    ]


@given(VALUES)
def test_a_walk_without_recursion_is_the_one_with_it(value):
    assert list(walk(value)) == list(recurse(value))


@given(VALUES)
def test_the_leaves_are_the_values_that_have_none_in_them_in_order(value):
    assert list(iterate_leaves(value)) == [inner for _, inner in recurse(value) if not isinstance(inner, list | dict)]


def test_a_tuple_has_leaves_and_a_text_is_one():
    assert list(iterate_leaves(("ab", OrderedDict(x=("cd",))))) == ["ab", "cd"]


def test_values_are_walked_however_deep_they_are_nested():
    assert list(iterate_leaves(nest(100_000))) == [0]
    assert max(len(path) for path, _ in walk(nest(2_000))) == 2_000


@given(VALUES)
def test_a_map_that_changes_no_leaf_returns_the_same_value(value):
    assert map_leaves(value, lambda leaf: leaf) == value


def test_a_map_changes_leaves_and_where_asked_the_names():
    value = {"a": [1, (2, "x")], "b": OrderedDict(c=None)}
    assert map_leaves(value, repr) == {"a": ["1", ["2", "'x'"]], "b": {"c": "None"}}
    assert map_leaves(value, repr, rename=str.upper) == {"A": ["1", ["2", "'x'"]], "B": {"C": "None"}}
    assert map_leaves([value], repr, rename=str.upper) == [{"A": ["1", ["2", "'x'"]], "B": {"C": "None"}}]


def test_a_map_of_a_value_nested_too_deep_is_an_error():
    with pytest.raises(RecursionError):
        map_leaves(nest(100_000), repr)


@pytest.mark.parametrize(("depth", "too_deep"), [(0, False), (1, False), (3, False), (4, True), (100, True)])
def test_a_value_is_too_deep_that_has_values_further_in_than_the_limit(depth, too_deep):
    assert is_too_deep(nest(depth), 3) is too_deep


def test_a_text_with_a_lone_surrogate_is_no_unicode():
    assert [is_unicode(text) for text in ("", "abc", "é😀", "\ud7ff\ue000")] == [True] * 4
    assert [is_unicode(text) for text in ("\ud800", "a\udbff", "\udc00é", "x\udfffy")] == [False] * 4


@given(VALUES)
def test_what_json_has_has_no_fault(value):
    assert [inner for _, inner in walk(json.loads(json.dumps(value))) if find_fault(inner)] == []


UNICODE = "must be valid Unicode"
NAMES = "has a name that is not text in valid Unicode"
NUMBER = "is a number that JSON cannot represent"
TYPE = "has a type that JSON does not have"


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        *(("\ud800", UNICODE), ({1: 2}, NAMES), ({"\ud800": 2}, NAMES), ({"a": 1, None: 2}, NAMES)),
        *((float("nan"), NUMBER), (float("inf"), NUMBER), (float("-inf"), NUMBER)),
        *((b"", TYPE), (Decimal(1), TYPE), ({1}, TYPE), (object, TYPE), (1j, TYPE)),
        *((None, None), (True, None), (1, None), (0.5, None), ("é", None), ((1,), None), ([b""], None), ({"a": b""}, None)),
    ],
)
def test_a_fault_is_told_of_a_value_apart_from_those_in_it(value, fault):
    assert find_fault(value) == fault

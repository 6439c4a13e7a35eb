"""Values, field paths and sizes, for any content."""

from itertools import pairwise
from typing import Any

from google.cloud.firestore import GeoPoint
from google.cloud.firestore_v1._helpers import encode_value
from google.cloud.firestore_v1.field_path import FieldPath
from google.cloud.firestore_v1.vector import Vector
from hypothesis import given
from hypothesis import strategies as st

from emulator.firestore import fields, transforms, values
from emulator.firestore.wire import Document, Value

NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
SCALARS = (
    st.none()
    | st.booleans()
    | NUMBERS
    | st.text()
    | st.binary()
    | st.builds(GeoPoint, st.floats(-90, 90), st.floats(-180, 180))
)
NAMES = st.text(min_size=1).filter(lambda name: not name.startswith("__"))
CONTENT = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner), max_leaves=12)


def wire(value: Any) -> Any:
    return encode_value(value)._pb


@given(NUMBERS, NUMBERS)
def test_numbers_sort_by_their_value_whatever_their_type(a: float, b: float) -> None:
    assert (values.key(wire(a)) < values.key(wire(b))) == (a < b)
    assert (values.key(wire(a)) == values.key(wire(b))) == (a == b)


@given(st.text(), st.text())
def test_strings_sort_by_their_bytes(a: str, b: str) -> None:
    assert (values.key(wire(a)) < values.key(wire(b))) == (a.encode() < b.encode())


@given(CONTENT, CONTENT, CONTENT)
def test_any_two_values_can_be_compared_and_the_order_holds(a: Any, b: Any, c: Any) -> None:
    first, second, third = sorted(values.key(wire(value)) for value in (a, b, c))
    assert first <= second <= third
    assert first <= third


def test_types_sort_in_the_documented_order() -> None:
    ascending = [
        None,
        False,
        True,
        float("nan"),
        float("-inf"),
        -1,
        0.5,
        1,
        "",
        "a",
        b"",
        GeoPoint(0, 0),
        GeoPoint(0, 1),
        [],
        [1],
        [1, 0],
        [2],
        Vector([9.0]),
        Vector([1.0, 1.0]),
        {},
        {"a": 1},
        {"a": 1, "b": 0},
        {"a": 2},
        {"b": 0},
    ]
    keys = [values.key(wire(value)) for value in ascending]
    assert all(a < b for a, b in pairwise(keys))


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_the_clients_way_of_writing_a_field_path_is_understood(segments: list[str]) -> None:
    assert fields.parse(FieldPath(*segments).to_api_repr()) == tuple(segments)


@given(st.lists(NAMES, min_size=1, max_size=4), CONTENT)
def test_what_is_put_is_got_and_what_is_removed_is_gone(path: list[str], content: Any) -> None:
    document = Document()
    fields.put(document.fields, tuple(path), wire(content))
    assert fields.get(document.fields, tuple(path)) == wire(content)
    fields.remove(document.fields, tuple(path))
    assert fields.get(document.fields, tuple(path)) is None


@given(CONTENT)
def test_a_value_never_counts_more_than_its_wire_size_allows(content: Any) -> None:
    document = Document(name="projects/p/databases/d/documents/c/d", fields={"a": wire(content)})
    counted = 32 + values.name_size(document.name) + values.fields_size(document.fields)
    assert counted <= document.ByteSize() * values.SMALLEST_RATIO


@given(st.lists(NUMBERS), st.lists(NUMBERS))
def test_a_union_holds_each_added_element_once_and_a_removal_none(present: list[float], added: list[float]) -> None:
    stored, added_values = [wire(n) for n in present], [wire(n) for n in added]
    union = [values.number(v) for v in transforms.appended(stored, added_values).array_value.values]
    assert union[: len(present)] == present
    assert set(union) == set(present) | set(added)
    rest = [values.number(v) for v in transforms.without(stored, added_values).array_value.values]
    assert rest == [n for n in present if n not in added]


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_a_sum_of_integers_stays_within_64_bits(a: int, b: int) -> None:
    total = transforms.add_numbers(Value(integer_value=a), Value(integer_value=b)).integer_value
    assert total == min(max(a + b, -(2**63)), 2**63 - 1)

"""Schemas: what a parameter's may be, and that the merged schema of schemas accepts what the library's own accepts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ferryman.declared import schemas

KEYWORDS = (
    *(
        "type",
        "enum",
        "const",
        "items",
        "prefixItems",
        "properties",
        "required",
        "additionalProperties",
        "anyOf",
        "not",
        "minimum",
    ),
    *(
        "maxLength",
        "pattern",
        "uniqueItems",
        "dependentRequired",
        "description",
        "default",
        "$defs",
        "$comment",
        "format",
        "$anchor",
    ),
    *("multipleOf", "minItems", "propertyNames", "contains", "readOnly", "examples", "unknown"),
)
VALUES = st.recursive(
    st.sampled_from(("string", "object", "array", "[", "", 0, 1, -1, 0.5, True, False, None)),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=3),
    max_leaves=6,
)


MERGED = Draft202012Validator(schemas.build_dialect())
ORIGINAL = Draft202012Validator(Draft202012Validator.META_SCHEMA)


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from(KEYWORDS), VALUES, max_size=4))
def test_the_merged_dialect_says_what_the_librarys_own_says(schema: dict[str, Any]) -> None:
    assert MERGED.is_valid(schema) is ORIGINAL.is_valid(schema)


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"type": "text"}, "not a JSON Schema at type"),
        ({"properties": {"a": {"minimum": "1"}}}, "not a JSON Schema at properties.a.minimum"),
        ({"$ref": "https://evil.test/x"}, "$ref"),
        ({"items": [{"$ref": "#"}]}, "$ref"),
        ({"anyOf": [{"$dynamicRef": "#x"}]}, "$ref"),
        ({"type": "integer", "default": "1"}, "default"),
    ],
)
def test_what_no_parameter_may_have(schema: dict[str, Any], says: str) -> None:
    assert (message := schemas.find_problem(schema)) is not None
    assert says in message


def test_a_parameter_may_be_called_as_a_keyword_is() -> None:
    assert schemas.find_problem({"properties": {"$ref": {"type": "string"}, "pattern": {}}}) is None


def test_a_schema_nested_too_deep_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(70):
        schema = {"items": schema}
    assert schemas.find_problem(schema) == "is nested more than 64 deep"


def test_a_slow_regular_expression_takes_no_longer_than_another() -> None:
    slow = {"pattern": "^(a+)+$", "patternProperties": {"^(a+)+$": False}, "additionalProperties": False}
    assert schemas.find_faults(slow, "a" * 10_000 + "!")
    assert schemas.find_faults(slow, {"a" * 10_000 + "!": 1})


def test_items_that_no_rule_has_evaluated_are_left_to_the_service() -> None:
    assert not schemas.find_faults({"unevaluatedProperties": False}, {"a": 1})
    assert schemas.find_faults({"additionalProperties": False}, {"a": 1})


NUMBERS = list(range(20_000))


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"enum": NUMBERS}}, [0] * 1_000),
        ({"anyOf": [{"items": {"const": 1}}] * 500}, [1] * 2_000 + [2]),
        ({"allOf": [{"items": {}}] * 1_000}, NUMBERS),
    ],
    ids=("enum", "anyOf", "allOf"),
)
def test_what_takes_too_many_steps_to_hold_is_given_up(schema: dict[str, Any], value: Any) -> None:
    with pytest.raises(schemas.SchemaBudgetError):
        list(schemas.find_faults({"not": {"not": schema}}, value))


def test_of_many_faults_only_the_first_are_kept() -> None:
    assert len(schemas.find_faults({"items": {"type": "string"}}, NUMBERS)) == schemas.FAULTS_MAX


def test_a_thousand_rows_of_ten_fields_are_held_against_their_schema() -> None:
    row = {f"field_{number}": number for number in range(10)}
    schema = {"items": {"properties": {name: {"type": "integer"} for name in row}, "required": list(row)}}
    assert not schemas.find_faults(schema, [row] * 1_000)
    assert schemas.find_faults(schema, [row] * 999 + [{}])


@pytest.mark.parametrize(("value", "fits"), [([{"a": 1}, {"a": 2}], True), ([{"a": 1}, {"a": 1}], False), ([1, True], True)])
def test_items_are_told_apart(value: list[Any], fits: bool) -> None:
    assert (not schemas.find_faults({"uniqueItems": True}, value)) is fits


def test_three_thousand_objects_are_told_apart() -> None:
    assert not schemas.find_faults({"uniqueItems": True}, [{"a": number} for number in range(3_000)])


@pytest.mark.parametrize(
    ("keyword", "value", "fits"), [("anyOf", 1, True), ("anyOf", [], False), ("oneOf", 1, False), ("oneOf", "", True)]
)
def test_alternatives_are_held(keyword: str, value: Any, fits: bool) -> None:
    schema = {keyword: [{"type": ["integer", "string"]}, {"type": "number"}]}
    assert (not schemas.find_faults(schema, value)) is fits

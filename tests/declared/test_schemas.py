"""Schemas: what a parameter's may be, and that the merged schema of schemas says what the library's own says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ferryman.declared import schemas
from ferryman.domain.declared import Parameter

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


MERGED = Draft202012Validator(schemas.dialect())
OWN = Draft202012Validator(Draft202012Validator.META_SCHEMA)


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from(KEYWORDS), VALUES, max_size=4))
def test_the_merged_dialect_says_what_the_librarys_own_says(schema: dict[str, Any]) -> None:
    assert MERGED.is_valid(schema) is OWN.is_valid(schema)


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"type": "text"}, "no JSON Schema at type"),
        ({"properties": {"a": {"minimum": "1"}}}, "no JSON Schema at properties.a.minimum"),
        ({"$ref": "https://evil.test/x"}, "$ref"),
        ({"items": [{"$ref": "#"}]}, "$ref"),
        ({"anyOf": [{"$dynamicRef": "#x"}]}, "$ref"),
        ({"type": "integer", "default": "1"}, "default"),
    ],
)
def test_what_no_parameter_may_have(schema: dict[str, Any], says: str) -> None:
    assert (found := schemas.problem(Parameter(schema=schema))) is not None
    assert says in found


def test_a_parameter_may_be_called_as_a_keyword_is() -> None:
    assert schemas.problem(Parameter(schema={"properties": {"$ref": {"type": "string"}, "pattern": {}}})) is None


def test_a_schema_nested_too_deep_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(70):
        schema = {"items": schema}
    assert schemas.problem(Parameter(schema=schema)) == "is nested more than 64 deep"


def test_no_regular_expression_is_tried_on_what_the_model_says() -> None:
    slow = {
        "pattern": "^(a+)+$",
        "patternProperties": {"^(a+)+$": False},
        "additionalProperties": False,
        "unevaluatedProperties": False,
    }
    assert schemas.Validator(slow).is_valid("a" * 64 + "!")
    assert schemas.Validator(slow).is_valid({"a" * 64 + "!": 1})
    assert not schemas.Validator({"additionalProperties": False}).is_valid({"a": 1})

"""Schemas of extracted values: the subset and its limits; nothing that would let a value hold more is part of it."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.domain.extraction.schema import (
    CHOICES_MAX,
    DEPTH_MAX,
    FORMATS,
    ITEMS_LIMIT,
    LENGTH_LIMIT,
    SCHEMA_CHARACTERS_MAX,
    VALUES_MAX,
    ExtractionSchemaError,
    check_schema,
)

TEXT = {"type": "string"}


def record(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def nest(depth: int) -> dict[str, Any]:
    """Return a schema of so many schemas within each other."""
    schema: dict[str, Any] = TEXT
    for _ in range(depth - 1):
        schema = {"type": "array", "items": schema}
    return schema


def refuse(schema: Any) -> str:
    with pytest.raises(ExtractionSchemaError) as refused:
        check_schema(schema)
    return str(refused.value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "boolean"},
        {"type": "integer", "minimum": -1, "maximum": 2.5},
        {"type": "number", "description": "in EUR"},
        *({"type": "string", "format": kind, "maxLength": LENGTH_LIMIT} for kind in FORMATS),
        {"type": "string", "enum": [str(number) for number in range(CHOICES_MAX)]},
        {"type": "array", "items": TEXT, "maxItems": ITEMS_LIMIT},
        {**record(a=TEXT, b=TEXT), "required": ["a"], "additionalProperties": False},
        record(**{f"p{number}": TEXT for number in range(VALUES_MAX - 1)}),
        nest(DEPTH_MAX),
    ],
)
def test_a_schema_of_the_subset_is_returned_as_it_is(schema: dict[str, Any]) -> None:
    assert check_schema(schema) is schema


@pytest.mark.parametrize("schema", [None, [], "string", True, 1, [TEXT]])
def test_a_schema_that_is_no_object_is_refused(schema: Any) -> None:
    assert refuse(schema) == "it must be an object"


@pytest.mark.parametrize("kind", [None, "null", "any", ["string", "null"], {}, 1, "String"])
def test_a_type_that_is_none_of_the_subset_is_refused(kind: Any) -> None:
    assert refuse({"type": kind}).startswith("it: type must be one of object, array, string")


@pytest.mark.parametrize(
    "schema",
    [
        {**TEXT, "pattern": ".*"},
        {**TEXT, "default": "x"},
        {**TEXT, "minimum": 1},
        {"type": "boolean", "enum": [True]},
        {"type": "array", "items": TEXT, "prefixItems": []},
        {**record(a=TEXT), "patternProperties": {}},
        {**record(a=TEXT), "$ref": "#"},
        {"type": "number", "maxLength": 1},
    ],
)
def test_a_keyword_that_its_type_does_not_have_is_refused(schema: dict[str, Any]) -> None:
    assert "may have description" in refuse(schema)


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({**TEXT, "description": 1}, "description must be a text"),
        (record(), "properties must be an object with at least one member"),
        ({"type": "object"}, "properties must be"),
        ({"type": "object", "properties": [TEXT]}, "properties must be"),
        (record(**{"\ud800": TEXT}), "properties must be"),
        ({**record(a=TEXT), "required": "a"}, "required must be a list"),
        ({**record(a=TEXT), "required": ["b"]}, "required must be a list"),
        ({**record(a=TEXT), "additionalProperties": True}, "additionalProperties can only be false"),
        ({**record(a=TEXT), "additionalProperties": TEXT}, "additionalProperties can only be false"),
        ({"type": "array"}, "items is needed"),
        ({"type": "array", "items": []}, "type must be one of"),
        *(
            ({"type": "array", "items": TEXT, "maxItems": most}, "maxItems must be")
            for most in (0, -1, True, 1.0, ITEMS_LIMIT + 1)
        ),
        *(({**TEXT, "maxLength": most}, "maxLength must be") for most in (0, "5", None, LENGTH_LIMIT + 1)),
        *(
            ({**TEXT, "enum": choices}, "enum must be a list")
            for choices in ([], "a", [1], ["\ud800"], ["a"] * (CHOICES_MAX + 1))
        ),
        *(({**TEXT, "format": kind}, "format must be one of") for kind in ("uri", "hostname", "", None, 1)),
        *(({"type": "number", "minimum": bound}, "must be numbers") for bound in (True, "1", None, float("nan"), float("inf"))),
    ],
)
def test_what_a_keyword_may_not_be_is_refused(schema: dict[str, Any], says: str) -> None:
    assert says in refuse(schema)


def test_a_fault_names_where_it_is() -> None:
    assert refuse(record(a=record(b={"type": "array", "items": {"type": "uri"}}))).startswith("a.b.items: type must be")


def test_a_schema_that_is_nested_deeper_is_refused() -> None:
    assert "nested at most 5 schemas deep" in refuse(nest(DEPTH_MAX + 1))


def test_a_schema_that_is_nested_a_thousand_times_is_refused_before_it_is_read() -> None:
    assert "nested at most 5 schemas deep" in refuse(nest(1_000))


def test_a_schema_of_more_schemas_is_refused() -> None:
    assert "at most 50 schemas" in refuse(record(**{f"p{number}": TEXT for number in range(VALUES_MAX)}))


def test_a_schema_of_more_characters_is_refused() -> None:
    assert "at most 5,000 characters" in refuse({**TEXT, "description": "x" * SCHEMA_CHARACTERS_MAX})

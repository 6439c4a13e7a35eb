"""Schemas: what the model is show of a document's, and that it never refuses what the document admits."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from ferryman.openapi.schemas import DEPTH_MAX, SCHEMA_BYTES_MAX
from tests.openapi.documents import post, posting, read_tools, schemas


def show(schema, **more):
    return schemas(post({"type": "object", "properties": {"a": schema}}, **more))["a"]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "example": "x", "examples": ["x"], "xml": {}, "deprecated": True}, {"type": "string"}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": True, "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"const": "a"}, {"const": "a"}),
        (True, {}),
        ({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, {"type": "integer", "exclusiveMinimum": 1}),
        ({"type": "integer", "exclusiveMinimum": 1}, {"type": "integer", "exclusiveMinimum": 1}),
        ({"type": "string", "minLength": -1, "maxLength": "x", "enum": []}, {"type": "string"}),
        ({"type": "nonsense", "enum": ["a", "a"]}, {"enum": ["a"]}),
        ({"type": "string", "pattern": "(a+)+$"}, {"type": "string", "pattern": "(a+)+$"}),
        ({"items": {"type": "string"}}, {"type": "array", "items": {"type": "string"}}),
        ({"additionalProperties": {"type": "string"}}, {"additionalProperties": {"type": "string"}}),
        ({"title": "A", "type": "string"}, {"type": "string", "description": "A"}),
        ({"type": "number", "minimum": float("nan"), "maximum": 10**5000}, {"type": "number"}),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"oneOf": [{"type": "string"}, {}]}, {}),
        ({"enum": [{"a": 1}]}, {}),
        ({"enum": ["x" * 300]}, {}),
        ({"enum": ["\ud800"]}, {}),
        (
            {"discriminator": {"propertyName": "x"}, "anyOf": [{"type": "string"}, False]},
            {"anyOf": [{"type": "string"}]},
        ),
    ],
)  # fmt: skip
def test_a_schema_is_shown_in_what_both_sides_understand(schema, expected):
    assert show(schema) == expected


def test_a_property_that_may_never_be_is_left_out():
    assert list(post({"type": "object", "properties": {"a": {}, "never": False}}).parameters) == ["a"]


def test_what_is_beside_a_reference_applies_before_what_it_refers_to():
    components = {"schemas": {"A": {"type": "string", "description": "theirs", "maxLength": 3}}}
    schema = {"$ref": "#/components/schemas/A", "description": "ours", "nullable": True}
    assert show(schema, components=components) == {"type": ["string", "null"], "description": "ours", "maxLength": 3}


def test_a_recursive_schema_is_cut_where_it_begins_again():
    node = {"type": "object", "properties": {"child": {"$ref": "#/components/schemas/Node"}, "name": {"type": "string"}}}
    result = read_tools(posting({"$ref": "#/components/schemas/Node"}, components={"schemas": {"Node": node}}))
    assert schemas(result.tools[0]) == {
        "child": {"type": "object", "properties": {"child": {"type": "object"}, "name": {"type": "string"}}},
        "name": {"type": "string"},
    }
    assert result.notes == ("make: has a recursive schema: where it begins again, it is shown as anything",)


def nested(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "description": "d", "properties": {"a": schema}}
    return schema


def test_a_schema_deeper_than_is_shown_is_anything_with_its_description():
    result = read_tools(posting(nested(30)))
    inner = schemas(result.tools[0])["a"]
    for _ in range(DEPTH_MAX):
        inner = inner["properties"]["a"]
    assert inner == {"description": "d"}
    assert "what is deeper is shown as anything" in result.notes[0]


def test_schemas_have_room_for_so_many_bytes_and_the_nearest_are_shown_first():
    inner = {
        "type": "object",
        "properties": {f"p{index}": {"type": "string", "description": "d" * 200} for index in range(100)},
    }
    tool = post({"type": "object", "properties": {f"q{index}": inner for index in range(40)}})
    assert set(tool.parameters) == {f"q{index}" for index in range(40)}
    size = len(json.dumps(tool.schema))
    assert SCHEMA_BYTES_MAX / 2 < size < SCHEMA_BYTES_MAX + 4_096
    assert tool.enabled


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"enum": [f"v{index}" for index in range(500)]}, "v499"),
        ({"anyOf": [{"const": index} for index in range(50)]}, 49),
        (
            {"type": "object", "additionalProperties": False, "properties": {f"p{index}": {} for index in range(300)}},
            {"p299": 1},
        ),
        ({"oneOf": [nested(12), nested(13)]}, {"a": {}}),
        ({"allOf": [{"additionalProperties": False, "properties": {"a": {}}}, {"properties": {"b": {}}}]}, {"a": 1, "b": 1}),
        ({"allOf": [{"type": "object", "properties": {f"p{index}": {}}} for index in range(60)]}, {"p59": 1}),
    ],
)
def test_what_is_cut_admits_what_the_whole_admits(schema, value):
    assert Draft202012Validator(show(schema)).is_valid(value)

"""Tests of the lines by which a person reads the arguments of a tool before it is accepted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ferryman.cli.mcp_arguments import list_argument_lines

NAMES = ["a", "b", "type", "description"]
VALUES = st.recursive(
    st.sampled_from(["object", "string", "tell-17", "tell-23"]) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=8,
)


def test_a_plain_argument_is_one_line() -> None:
    schema = {
        "type": "object",
        "properties": {
            "city": {"type": "string", "maxLength": 80, "description": "Where to look."},
            "days": {"type": "integer"},
        },
        "required": ["city"],
    }
    assert list(list_argument_lines(schema)) == ["city (string, required, maxLength 80): Where to look.", "days (integer)"]


def test_a_nested_argument_has_a_line_for_each_field() -> None:
    schema = {"properties": {"place": {"type": "object", "properties": {"x": {"type": "number"}}}}, "required": ["place"]}
    lines = list(list_argument_lines(schema))
    assert lines == ["properties.place.type: object", "properties.place.properties.x.type: number", 'required: ["place"]']


def test_what_hides_text_in_a_line_is_shown() -> None:
    [line] = list_argument_lines({"properties": {"a\u200b": {"type": "string", "description": "x\u202ey", "title": "\u200d"}}})
    assert not {"\u200b", "\u202e", "\u200d"} & set(line)


@given(st.dictionaries(st.sampled_from(["properties", "required", "type", "x"]), VALUES, max_size=4))
def test_no_text_of_a_schema_is_left_out(schema: Mapping[str, Any]) -> None:
    printed, written = "\n".join(list_argument_lines(schema)), json.dumps(schema)
    assert all(text in printed for text in ("tell-17", "tell-23") if text in written)

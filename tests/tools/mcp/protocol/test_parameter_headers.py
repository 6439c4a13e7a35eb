"""Headers that repeat arguments: which schemas may name one, and how every value is written and read back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.egress.headers import reject_fixed_header_conflicts
from ferryman.serving.mcp.headers import decode_value
from ferryman.tools.mcp.protocol.errors import UnwritableArgumentError
from ferryman.tools.mcp.protocol.headers import (
    InvalidAnnotationError,
    encode_value,
    read_parameter_headers,
    write_parameter_headers,
)
from tests.linear import find_growth

TEXT = {"type": "string", "x-mcp-header": "Region"}


def write_schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


VALID = {
    "a text": (write_schema(a=TEXT), (("Region", ("a",)),)),
    "an integer": (write_schema(a={"type": "integer", "x-mcp-header": "N"}), (("N", ("a",)),)),
    "a boolean or null": (write_schema(a={"type": ["boolean", "null"], "x-mcp-header": "B"}), (("B", ("a",)),)),
    "in an object": (write_schema(a=write_schema(b=TEXT)), (("Region", ("a", "b")),)),
    "a property of that name": (write_schema(**{"x-mcp-header": {"type": "string"}}), ()),
    "a value that only resembles one": (write_schema(a={"type": "object", "default": {"x-mcp-header": ""}}), ()),
    "none": (write_schema(a={"type": "string"}), ()),
}

INVALID = {
    "empty": write_schema(a={**TEXT, "x-mcp-header": ""}),
    "no text": write_schema(a={**TEXT, "x-mcp-header": 1}),
    "a space": write_schema(a={**TEXT, "x-mcp-header": "a b"}),
    "a line break": write_schema(a={**TEXT, "x-mcp-header": "a\r\nb"}),
    "a colon": write_schema(a={**TEXT, "x-mcp-header": "a:b"}),
    "not ASCII": write_schema(a={**TEXT, "x-mcp-header": "é"}),
    "too long": write_schema(a={**TEXT, "x-mcp-header": "a" * 55}),
    "twice": write_schema(a=TEXT, b={**TEXT, "x-mcp-header": "REGION"}),
    "twice for a gateway": write_schema(a={**TEXT, "x-mcp-header": "a_b"}, b={**TEXT, "x-mcp-header": "a-b"}),
    "a number": write_schema(a={"type": "number", "x-mcp-header": "N"}),
    "an array": write_schema(a={"type": "array", "x-mcp-header": "N"}),
    "an object": write_schema(a={"type": "object", "x-mcp-header": "N"}),
    "no type": write_schema(a={"x-mcp-header": "N"}),
    "null alone": write_schema(a={"type": ["null"], "x-mcp-header": "N"}),
    "a text or a number": write_schema(a={"type": ["string", "number"], "x-mcp-header": "N"}),
    "at the root": {**write_schema(), "x-mcp-header": "N"},
    "in items": write_schema(a={"type": "array", "items": TEXT}),
    "in anyOf": write_schema(a={"anyOf": [TEXT]}),
    "in a property of oneOf": {"type": "object", "oneOf": [write_schema(a=TEXT)]},
    "in then": {"type": "object", "then": write_schema(a=TEXT)},
    "in a definition": {"type": "object", "$defs": {"a": TEXT}},
    "in patternProperties": {"type": "object", "patternProperties": {"a": TEXT}},
    "in additionalProperties": {"type": "object", "additionalProperties": TEXT},
    "in an unknown keyword": {"type": "object", "whatever": {"properties": {"a": TEXT}}},
    "too many": write_schema(**{f"a{i}": {"type": "string", "x-mcp-header": f"a{i}"} for i in range(15)}),
}


@pytest.mark.parametrize("kind", VALID)
def test_a_valid_annotation_names_its_argument(kind: str) -> None:
    schema, headers = VALID[kind]
    assert read_parameter_headers(schema) == headers


@pytest.mark.parametrize("kind", INVALID)
def test_an_invalid_annotation_is_refused(kind: str) -> None:
    with pytest.raises(InvalidAnnotationError, match="x-mcp-header"):
        read_parameter_headers(INVALID[kind])


WRITTEN = {
    "plain": ("us-west1", "us-west1"),
    "not ASCII": ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
    "outer spaces": (" padded ", "=?base64?IHBhZGRlZCA=?="),
    "a line break": ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
    "the sentinel": ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
    "empty": ("", "=?base64??="),
    "an integer": (42, "42"),
    "a float that is one": (42.0, "42"),
    "negative": (-7, "-7"),
    "true": (True, "true"),
    "false": (False, "false"),
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_value_is_written_as_the_specification_has_it(kind: str) -> None:
    value, written = WRITTEN[kind]
    assert write_parameter_headers((("Region", ("a",)),), {"a": value}) == {"Mcp-Param-Region": written}


@pytest.mark.parametrize("arguments", [{}, {"a": None}, {"b": "x"}, {"a": {"c": 1}}])
def test_an_absent_argument_has_no_header(arguments: dict[str, Any]) -> None:
    assert write_parameter_headers((("Region", ("a", "b")),), arguments) == {}


@pytest.mark.parametrize("value", [1.5, 2**53, -(2**53), [1], {"x": 1}, float("inf")])
def test_a_value_that_no_header_has_is_not_sent(value: Any) -> None:
    with pytest.raises(UnwritableArgumentError, match="'a'"):
        write_parameter_headers((("Region", ("a",)),), {"a": value})


@given(st.text(max_size=200).filter(lambda text: text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)))
def test_any_text_is_one_header_that_the_gate_sends_and_a_server_reads_back(text: str) -> None:
    value = encode_value(text)
    reject_fixed_header_conflicts({"Mcp-Param-A": value})
    assert decode_value("Mcp-Param-A", value) == text


def test_a_schema_takes_linear_time() -> None:
    growth = find_growth(
        read_parameter_headers, lambda size: write_schema(**{f"p{i}": {"type": "string"} for i in range(size // 8)})
    )
    assert growth is None, str(growth)

"""Patterns: a schema's regular expressions are held against what the model says, in linear time."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.declared import patterns, schemas
from ferryman.domain.calls.refusal import CallRefusedError
from tests.declared.entries import HOST, call, fault, read
from tests.linear import find_growth
from tests.openapi.documents import HOST as SHOP
from tests.openapi.documents import build, document, get, post, read_tools

URL = f"https://{HOST}/v1"
SLOW = "^(a+)+$"


@pytest.mark.parametrize(
    ("pattern", "fitting", "other"),
    [
        (r"^AC[0-9a-fA-F]{32}$", "AC" + "0" * 32, "AC" + "0" * 32 + "\n"),
        (r"b+", "abc", "ac"),
        (r"^\d+$", "12", "\u0661"),
        (r"^[\u0041-\u005A]+$", "ABZ", "abz"),
        (r"^\u{1F600}$", "\U0001f600", "x"),
        (r"^\\u0041$", r"\u0041", "A"),
        (r"^\p{L}+$", "Zürich", "1"),
        (r"^[^\x00-\x1f]*$", "a b", "a\tb"),
        (SLOW, "aa", "ab"),
    ],
)  # fmt: skip
def test_a_text_fits_as_its_pattern_says(pattern: str, fitting: str, other: str) -> None:
    assert schemas.find_problem({"pattern": pattern}) is None
    assert not schemas.find_faults({"pattern": pattern}, fitting)
    assert schemas.find_faults({"pattern": pattern}, other)


def test_what_is_no_text_has_no_pattern() -> None:
    assert not schemas.find_faults({"pattern": "^a$"}, 1)


UNKNOWN = ["^(?!aws:).+$", r"^(a)\1$", "(?<=a)b", "a{1,5000}", "[a", "*", r"[\p{L}]{1,1000}", r"\ud800", "\ud800", "a" * 501]


@pytest.mark.parametrize("pattern", UNKNOWN)
def test_an_owner_is_told_of_a_pattern_that_needs_more_than_linear_time(pattern: str) -> None:
    assert not patterns.is_known(pattern)
    for schema in ({"pattern": pattern}, {"properties": {"a": {"pattern": pattern}}}, {"patternProperties": {pattern: {}}}):
        problem = schemas.find_problem(schema)
        assert problem is not None
        assert problem.startswith("has a pattern that is not known")


def test_the_place_of_such_a_pattern_is_named() -> None:
    message = fault(url=URL + "?q={q}", parameters={"q": {"type": "string", "pattern": "(?!a)"}})
    assert message.startswith("tools.0.parameters.q has a pattern that is not known")


@pytest.mark.parametrize(
    "schema", [{"default": {"pattern": "(?!a)"}}, {"enum": [{"pattern": "(?!a)"}]}, {"properties": {"pattern": {}}}]
)
def test_a_value_that_is_named_like_the_keyword_is_no_pattern(schema: dict[str, Any]) -> None:
    assert schemas.find_problem(schema) is None


def test_the_names_of_an_object_fit_as_their_patterns_say() -> None:
    schema = {"patternProperties": {"^x-": {"type": "string"}}, "properties": {"a": {}}, "additionalProperties": False}
    assert not schemas.find_faults(schema, {"a": 1, "x-b": "c"})
    assert schemas.find_faults(schema, {"x-b": 1})
    assert schemas.find_faults(schema, {"b": 1})


def test_a_call_is_refused_for_an_argument_that_does_not_fit() -> None:
    tool = read(url=URL + "?sid={sid}", parameters={"sid": {"type": "string", "pattern": "^AC[0-9a-f]{4}$"}})
    assert call(tool, sid="ACbeef").query_params == {"sid": "ACbeef"}
    with pytest.raises(CallRefusedError, match="'sid' for weather must be as its schema says"):
        call(tool, sid="AC" + "f" * 5)


@pytest.mark.parametrize("pattern", [SLOW, r"^(\w+\s?)*$", "(a|a)*b", "(.*)(.*)(.*)[^x]{200}z"])
def test_twice_the_text_takes_twice_the_time(pattern: str) -> None:
    assert find_growth(lambda text: patterns.matches(pattern, text), lambda size: "a" * size + "!") is None


def test_a_large_pattern_on_a_large_text_is_given_up() -> None:
    with pytest.raises(schemas.SchemaBudgetError):
        schemas.find_faults({"pattern": "((a{0,100}){0,10})b"}, "a" * 1_000_000)


def test_an_import_keeps_a_pattern_and_holds_the_model_to_it() -> None:
    tool = get({"name": "sid", "in": "query", "schema": {"type": "string", "pattern": "^AC[0-9a-f]{4}$"}})
    assert tool.parameters["sid"].schema == {"type": "string", "pattern": "^AC[0-9a-f]{4}$"}
    with pytest.raises(CallRefusedError):
        build(tool, sid="x")


@pytest.mark.parametrize("pattern", [*UNKNOWN, "/^a$/", "a\u202eb", 1])
def test_an_import_leaves_out_a_pattern_that_is_not_checked_and_says_so(pattern: Any) -> None:
    operation = {
        "operationId": "look",
        "parameters": [{"name": "q", "in": "query", "schema": {"type": "string", "pattern": pattern}}],
    }
    result = read_tools(document({"/a": {"get": operation}}))
    (tool,) = result.tools
    assert (tool.enabled, dict(tool.parameters["q"].schema)) == (True, {"type": "string"})
    if isinstance(pattern, str):
        assert result.notes == ("look: has a pattern that is not checked: it is too long, or needs more than linear time",)


def test_a_default_of_a_document_is_kept_and_left_to_its_service() -> None:
    """GitHub answers 422 where `type` comes with `visibility`, each of which has a default."""
    tool = get(
        {"name": "visibility", "in": "query", "schema": {"type": "string", "default": "all"}},
        {"name": "per_page", "in": "query", "required": True, "schema": {"type": "integer", "default": 30}},
    )
    assert {name: parameter.schema["default"] for name, parameter in tool.parameters.items()} == {
        "visibility": "all",
        "per_page": 30,
    }
    sent = build(tool)
    assert (sent.url, dict(sent.query_params)) == (f"https://{SHOP}/v1/things", {"per_page": "30"})


def test_defaults_within_a_body_are_kept() -> None:
    inner = {"type": "object", "properties": {"n": {"type": "integer", "default": 3}}}
    tool = post({"type": "object", "properties": {"o": inner, "private": {"type": "boolean", "default": False}}})
    assert tool.parameters["private"].schema == {"type": "boolean", "default": False}
    assert tool.parameters["o"].schema["properties"]["n"] == {"type": "integer", "default": 3}
    assert build(tool).body == {}


@pytest.mark.parametrize(
    "schema", [{"type": "integer", "default": "x"}, {"enum": ["a"], "default": "b"}, {"default": "x" * 300}]
)
def test_a_default_that_does_not_fit_is_left_out_and_disables_nothing(schema: Any) -> None:
    tool = get({"name": "q", "in": "query", "schema": schema})
    assert (tool.enabled, "default" in tool.parameters["q"].schema) == (True, False)


def test_a_default_of_a_declared_tool_is_sent() -> None:
    tool = read(url=URL, query={"units": "{{units}}"}, parameters={"units": {"default": "metric"}})
    assert call(tool).query_params == {"units": "metric"}

"""What the result of a search becomes: references in the message, and definitions behind those that are listed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.executions.found_tools import DEFERRED, FOUND_BYTES_MAX, build_results, read_found, write_found


def define(name: str, description: str = "") -> dict[str, Any]:
    return {"name": name, "description": description, "input_schema": {"type": "object"}}


def build(
    *contents: str, tool: str = "seek", listed: tuple[Any, ...] = (), enabled: tuple[str, ...] = ("a", "b", "c")
) -> tuple[list[Any], list[Any]]:
    """Return the contents of the results' blocks, and the names of the definitions that are added."""
    answers = [(f"call{number}", ToolCallResult(tool, content)) for number, content in enumerate(contents)]
    message, added = build_results(answers, finders=("seek",), listed=listed, enabled=enabled)
    assert all(tool[DEFERRED] for tool in added)
    return [block["content"] for block in message["content"]], [tool["name"] for tool in added]


def refer(*names: str) -> list[dict[str, str]]:
    return [{"type": "tool_reference", "tool_name": name} for name in names]


def test_what_was_found_is_read_as_it_was_written() -> None:
    definitions = [define("a", "é"), define("b")]
    assert read_found(write_found(definitions)) == definitions


@pytest.mark.parametrize(
    "content",
    [
        *("No tool fits.", "[]", "{}", '{"tools": {}}', '{"tools": [1]}', "null", '{"tools": [{"name": "a"}]}'),
        json.dumps({"tools": [{**define("a"), "type": "computer"}]}),
        json.dumps({"tools": [{**define("a"), "input_schema": []}]}),
    ],
)
def test_what_is_no_definition_is_not_read(content: str) -> None:
    assert read_found(content) == []


def test_a_search_is_answered_with_references() -> None:
    assert build(write_found([define("a"), define("b")])) == ([refer("a", "b")], ["a", "b"])


def test_a_tool_is_added_once() -> None:
    both = write_found([define("a")]), write_found([define("a"), define("b")])
    assert build(*both) == ([refer("a"), refer("b")], ["a", "b"])


def test_a_tool_that_is_listed_already_is_named_in_words() -> None:
    assert build(write_found([define("a")]), listed=(define("a"),)) == (["Nothing new: a can be called already."], [])


def test_a_tool_that_is_not_enabled_is_never_added() -> None:
    content = write_found([define("other")])
    assert build(content) == ([content], [])


def test_another_tool_adds_nothing_whatever_it_says() -> None:
    content = write_found([define("a")])
    assert build(content, tool="http_get") == ([content], [])


def test_an_execution_finds_no_more_than_its_bytes() -> None:
    listed = ({**define("b", "x" * FOUND_BYTES_MAX), DEFERRED: True},)
    ((text,), added) = build(write_found([define("a")]), listed=listed)
    assert (text.split(":")[0], added) == ("This execution has found as many tools as it may", [])


def test_an_error_is_marked() -> None:
    message, _ = build_results([("c", ToolCallResult("seek", "Error: no", ok=False))], finders=("seek",), listed=(), enabled=())
    assert message["content"][0]["is_error"] is True

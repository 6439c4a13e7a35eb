"""Tools: what the server lists, and what each answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emulator.internet.mcp.rules import McpRules

NUMBER = {"type": "number"}
TEXT = {"type": "string"}

TOOLS: tuple[dict[str, Any], ...] = (
    {
        "name": "echo",
        "title": "Echo",
        "description": "Answers the text that it is given.",
        "inputSchema": {"type": "object", "properties": {"text": TEXT}, "required": ["text"], "additionalProperties": False},
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    },
    {
        "name": "add",
        "description": "Adds two numbers.",
        "inputSchema": {"type": "object", "properties": {"a": NUMBER, "b": NUMBER}, "required": ["a", "b"]},
        "outputSchema": {"type": "object", "properties": {"sum": NUMBER}, "required": ["sum"]},
        "annotations": {"readOnlyHint": True, "idempotentHint": True},
    },
    {
        "name": "slow",
        "description": "Takes a while, and reports how far it is.",
        "inputSchema": {"type": "object", "properties": {"steps": {"type": "integer", "minimum": 1, "maximum": 10}}},
    },
    {
        "name": "count_words",
        "description": "Counts the words of a text, as a task where the client takes tasks.",
        "inputSchema": {"type": "object", "properties": {"text": TEXT}, "required": ["text"]},
    },
    {
        "name": "book_table",
        "description": "Books a table, and asks for how many and at which hour.",
        "inputSchema": {"type": "object", "properties": {"day": TEXT}, "required": ["day"]},
    },
    {
        "name": "link_account",
        "description": "Asks a person to link an account at a page of the server's.",
        "inputSchema": {"type": "object", "properties": {}},
    },
    {
        "name": "query_region",
        "description": "Answers for a region, which a header names too.",
        "inputSchema": {
            "type": "object",
            "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "query": TEXT},
            "required": ["region", "query"],
        },
    },
    {
        "name": "fail",
        "description": "Fails as a tool does.",
        "inputSchema": {"type": "object", "properties": {}},
    },
)

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "people": {"type": "integer", "minimum": 1, "maximum": 12, "title": "For how many"},
        "hour": {"type": "string", "enum": ["18:00", "20:00"], "title": "At which hour"},
    },
    "required": ["people", "hour"],
}


def list_tools(rules: McpRules) -> list[dict[str, Any]]:
    """Return the descriptors as the rules have them, in the order of `TOOLS`."""
    listed = []
    for tool in TOOLS:
        if tool["name"] not in rules.hidden:
            merged = {**tool, **rules.changed.get(tool["name"], {})}
            listed.append({key: value for key, value in merged.items() if value is not None})
    return [*listed, *map(dict, rules.added)]


def answer_call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a tool that answers at once; one that was added answers its arguments."""
    if name == "echo":
        return text(str(arguments.get("text", "")))
    if name == "add":
        total = arguments.get("a", 0) + arguments.get("b", 0)
        return {**text(str(total)), "structuredContent": {"sum": total}}
    if name == "count_words":
        return text(f"{len(str(arguments.get('text', '')).split())} words")
    if name == "query_region":
        return text(f"{arguments.get('region')}: {arguments.get('query')}")
    if name == "fail":
        return {**text("the tool failed"), "isError": True}
    if name == "slow":
        return text("done")
    return text(str(dict(arguments)))


def text(value: str) -> dict[str, Any]:
    """Return a result of one text."""
    return {"content": [{"type": "text", "text": value}]}


def ask_form(state: str) -> dict[str, Any]:
    """Return the result that asks a person with a form (2026-07-28)."""
    request = {"method": "elicitation/create", "params": describe_form()}
    return {"resultType": "input_required", "inputRequests": {"booking": request}, "requestState": state}


def describe_form() -> dict[str, Any]:
    """Return the parameters of the question with a form."""
    return {"mode": "form", "message": "For how many people, and at which hour?", "requestedSchema": FORM}


def ask_page(host: str, state: str) -> dict[str, Any]:
    """Return the result that asks a person to open a page of the server's (2026-07-28)."""
    params = {"mode": "url", "message": "Link your account.", "url": f"https://{host}/link?state={state}"}
    return {
        "resultType": "input_required",
        "inputRequests": {"link": {"method": "elicitation/create", "params": params}},
        "requestState": state,
    }


def confirm_booking(day: object, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result once a person has answered the form."""
    content = answer.get("content") or {}
    if answer.get("action") != "accept":
        return {**text(f"not booked: {answer.get('action')}"), "isError": True}
    return text(f"booked {content.get('people')} people on {day} at {content.get('hour')}")

"""Tools that answer at once, report, log, or change the lists."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.serving.mcp import McpExchange, Result, refuse_params

from .content import IMAGE, WAV, answer
from .state import Process, Tasks

STEP_S = 0.05
DIALECT = "https://json-schema.org/draft/2020-12/schema"
NOTHING: dict[str, Any] = {"type": "object", "additionalProperties": False}
_TEXT = {"type": "string"}
RICH_SCHEMA: dict[str, Any] = {
    "$schema": DIALECT,
    "type": "object",
    "$defs": {
        "address": {"$anchor": "addressDef", "type": "object", "properties": {"street": _TEXT, "city": _TEXT}},
    },
    "properties": {
        "name": _TEXT,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": _TEXT,
        "email": _TEXT,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Fixtures:
    """What tools work with."""

    tasks: Tasks
    process: Process
    keys: tuple[bytes, ...]


Handler = Callable[[Fixtures, McpExchange, Mapping[str, Any]], Awaitable[Result]]


@dataclass(frozen=True)
class FixtureTool:
    """A tool: what is listed of it, and what runs it."""

    name: str
    description: str
    run: Handler
    schema: Mapping[str, Any] = field(default_factory=lambda: NOTHING)

    def describe(self) -> dict[str, Any]:
        """Return the member of tools/list."""
        return {"name": self.name, "description": self.description, "inputSchema": dict(self.schema)}


def takes(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with exactly these properties, all required."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


async def say_simple(_: Fixtures, __: McpExchange, ___: Mapping[str, Any]) -> Result:
    return answer("This is a simple text response for testing.")


async def show_image(_: Fixtures, __: McpExchange, ___: Mapping[str, Any]) -> Result:
    return answer(IMAGE)


async def return_audio(_: Fixtures, __: McpExchange, ___: Mapping[str, Any]) -> Result:
    return answer({"type": "audio", "data": WAV, "mimeType": "audio/wav"})


async def embed(_: Fixtures, __: McpExchange, ___: Mapping[str, Any]) -> Result:
    text = "This is an embedded resource content."
    return answer({"type": "resource", "resource": {"uri": "test://embedded-resource", "mimeType": "text/plain", "text": text}})


async def mix(_: Fixtures, __: McpExchange, ___: Mapping[str, Any]) -> Result:
    resource = {"uri": "test://mixed-content-resource", "mimeType": "application/json", "text": '{"test":"data","value":123}'}
    return answer("Multiple content types test:", IMAGE, {"type": "resource", "resource": resource})


async def fail(_: Fixtures, __: McpExchange, ___: Mapping[str, Any]) -> Result:
    return answer("This tool intentionally returns an error for testing", is_error=True)


async def report(_: Fixtures, exchange: McpExchange, __: Mapping[str, Any]) -> Result:
    for progress in (0, 50, 100):
        await exchange.report_progress(progress, 100, f"Completed step {progress} of 100")
        await asyncio.sleep(STEP_S)
    return answer("The tool has reported its progress.")


async def log(deps: Fixtures, exchange: McpExchange, _: Mapping[str, Any]) -> Result:
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        # a client of 2026 is sent none that it did not ask for; one of 2025 all, until it sets a level
        if exchange.log_level is not None or not exchange.is_modern:
            await exchange.notify("notifications/message", {"level": "info", "data": line, "logger": "conformance"})
        await asyncio.sleep(STEP_S)
    return answer("The tool has logged what it does.")


async def change_tools(deps: Fixtures, _: McpExchange, __: Mapping[str, Any]) -> Result:
    deps.process.announce("notifications/tools/list_changed")
    return answer("The list of tools has changed.")


async def change_prompts(deps: Fixtures, _: McpExchange, __: Mapping[str, Any]) -> Result:
    deps.process.announce("notifications/prompts/list_changed")
    return answer("The list of prompts has changed.")


async def route(_: Fixtures, __: McpExchange, arguments: Mapping[str, Any]) -> Result:
    return answer(f"Routed to {arguments.get('region', 'nowhere')}")


async def reconnect(_: Fixtures, exchange: McpExchange, __: Mapping[str, Any]) -> Result:
    await exchange.end_stream()
    await asyncio.sleep(STEP_S)
    return answer("The client has come back.")


async def need_sampling(_: Fixtures, exchange: McpExchange, __: Mapping[str, Any]) -> Result:
    exchange.require("sampling")
    return answer("The client declares sampling.")


async def greet(_: Fixtures, __: McpExchange, arguments: Mapping[str, Any]) -> Result:
    name = arguments.get("name")
    if not isinstance(name, str):
        raise refuse_params("name must be a text")
    return answer(f"Hello, {name}!")


TOOLS = (
    FixtureTool("test_simple_text", "Return a text", say_simple),
    FixtureTool("test_image_content", "Return an image", show_image),
    FixtureTool("test_audio_content", "Return a sound", return_audio),
    FixtureTool("test_embedded_resource", "Return a resource", embed),
    FixtureTool("test_multiple_content_types", "Return a text, an image and a resource", mix),
    FixtureTool("test_error_handling", "Fail", fail),
    FixtureTool("test_tool_with_progress", "Report progress", report),
    FixtureTool("test_tool_with_logging", "Log three lines", log),
    FixtureTool("test_logging_tool", "Log three lines where the client asks for a level", log),
    FixtureTool("test_trigger_tool_change", "Announce that the list of tools has changed", change_tools),
    FixtureTool("test_trigger_prompt_change", "Announce that the list of prompts has changed", change_prompts),
    FixtureTool("test_missing_capability", "Require the client's capability of sampling", need_sampling),
    FixtureTool("test_reconnection", "End the stream of a client of 2025 before the result", reconnect),
    FixtureTool("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features", say_simple, RICH_SCHEMA),
    FixtureTool("greet", "Greet somebody", greet, takes(name=_TEXT)),
    FixtureTool("test_custom_header", "Route by a header", route, takes(region={"type": "string", "x-mcp-header": "Region"})),
)

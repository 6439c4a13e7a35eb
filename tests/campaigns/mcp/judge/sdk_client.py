"""The client of the `mcp` SDK at a server: what it sees, as one line of JSON. It runs in the environment of the SDK.

`python sdk_client.py URL MODE [TOKEN]`, where MODE is `auto`, `legacy` or a version. It calls the fixtures of the conformance
suite, or what the variable MCP_CALLS has: [[name, arguments], …].
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

FIXTURES = [
    ["test_simple_text", {}],
    ["greet", {"name": "Ann"}],
    ["test_custom_header", {"region": "Zürich"}],
    ["test_error_handling", {}],
    ["test_input_required_result_elicitation", {}],
    ["test_elicitation", {"message": "Who?"}],
    ["unknown", {}],
]


async def fill_in(_: Any, params: Any) -> Any:
    """Answer a form."""
    fields = getattr(params, "requested_schema", {}).get("properties", {})
    return ElicitResult(action="accept", content=dict.fromkeys(fields, "Bea"))


async def visit(url: str, mode: str, token: str, calls: list[Any]) -> dict[str, Any]:
    """List and call, and return what came back."""
    progress: list[float] = []

    async def report(value: float, _: float | None, __: str | None) -> None:
        progress.append(value)

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(transport, mode=mode, elicitation_callback=fill_in) as client:  # type: ignore[arg-type]
            tools = await list_tools(client)
            seen: dict[str, Any] = {"version": client.protocol_version, "tools": tools, "results": {}}
            for name, arguments in calls:
                seen["results"][name] = await call(client, name, arguments)
            if "test_tool_with_progress" in tools:
                await client.call_tool("test_tool_with_progress", {}, progress_callback=report)
                seen["progress"] = progress
            return seen


async def list_tools(client: Client) -> list[str]:
    """Return the names of all tools, page by page."""
    names: list[str] = []
    cursor = None
    while True:
        page = await client.list_tools(cursor=cursor)
        names += [tool.name for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return names


async def call(client: Client, name: str, arguments: dict[str, Any]) -> Any:
    """Return the text of a tool's result, whether it is an error, or the code of the error of the protocol."""
    try:
        result = await client.call_tool(name, arguments)
    except MCPError as error:
        return {"code": error.code}
    return {"text": "".join(getattr(part, "text", "") for part in result.content), "is_error": bool(result.is_error)}


if __name__ == "__main__":
    url, mode, *rest = sys.argv[1:]
    chosen_calls = json.loads(os.environ.get("MCP_CALLS", "null")) or FIXTURES
    print(json.dumps(asyncio.run(visit(url, mode, rest[0] if rest else "", chosen_calls))))

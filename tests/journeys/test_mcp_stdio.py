"""`ferryman mcp serve` as the Python SDK's own client starts it, of both eras, with what `ferryman mcp config` prints.

The SDK is in an environment of its own, which `make mcp-conformance` makes; without it the journey is skipped.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from typing import Any

import pytest

from ferryman.cli.mcp_config import STDIO, write_config
from tests.campaigns.mcp.installing import PYTHON
from tests.journeys.conftest import Journey
from tests.journeys.test_mcp import set_chat_task

HOST = "api.coingecko.com"
PROGRAM = """
import asyncio, json, sys
from mcp import Client, StdioServerParameters

async def main():
    server, mode, url = json.loads(sys.stdin.read())
    parameters = StdioServerParameters(command=server["command"], args=server["args"], env=server["env"])
    async with Client(parameters, mode=mode) as client:
        listed = await client.list_tools()
        called = await client.call_tool("http_get", {"url": url})
        print(json.dumps({
            "version": client.protocol_version,
            "server": client.server_info.name,
            "tools": [tool.name for tool in listed.tools],
            "result": called.structured_content,
        }))

asyncio.run(main())
"""


@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
async def test_the_sdk_lists_and_calls_tools_over_stdio(
    journey: Journey, stack: Mapping[str, Any], key: str, mode: str, version: str
) -> None:
    if not PYTHON.exists():
        pytest.skip("the SDK is not installed: `make mcp-conformance` installs it into build/mcp/venv")
    await journey.serve(HOST, json={"price": 42})
    await set_chat_task(journey, tools=["http_get"], integrations=["coingecko"])
    server = json.loads(write_config("claude", STDIO, url=stack["url"], key=key))["mcpServers"]["ferryman"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FERRYMAN_")}
    child = await asyncio.create_subprocess_exec(
        PYTHON,
        "-c",
        PROGRAM,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
    )
    out, err = await child.communicate(json.dumps([server, mode, journey.url(HOST)]).encode())
    assert child.returncode == 0, err.decode()
    about = json.loads(out)
    assert (about["version"], about["server"]) == (version, "ferryman")
    assert {"http_get", "run_task"} <= set(about["tools"])
    assert about["result"]["ok"] is True
    assert len(await journey.received(HOST)) == 1

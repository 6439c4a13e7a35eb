"""Our own bridge, `ferryman mcp serve`, as a local MCP server in embedded use: an agent's tools, through both ends."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ferryman.composition.embedded_servers import EmbeddedServers

ROOT = Path(__file__).parents[2]


async def test_the_tools_of_an_agent_are_called_over_the_bridge(stack: Mapping[str, Any], key: str) -> None:
    entry = {
        "name": "ours",
        "command": [str(ROOT / ".venv" / "bin" / "ferryman"), "mcp", "serve"],
        "cwd": str(ROOT),
        "env": ["FERRYMAN_URL", "FERRYMAN_KEY"],
        "public_env": ["FERRYMAN_URL"],
    }
    env = {"FERRYMAN_URL": stack["url"], "FERRYMAN_KEY": key}
    async with EmbeddedServers.open([entry], env=env) as servers:
        (listed,) = [tool for tool in await servers.list_waiting() if tool.tool == "list_tasks"]
    async with EmbeddedServers.open([{**entry, "accept": {"list_tasks": listed.digest}}], env=env) as servers:
        assert servers.list_accepted() == ["ours__list_tasks"]
        result = await servers.call("ours__list_tasks", {})
        assert (result.ok, servers.servers["ours"].client.revision) == (True, "2026-07-28")

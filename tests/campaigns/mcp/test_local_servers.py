"""The SDK's own server as a process of this machine, in embedded use."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from ferryman.composition.embedded_servers import EmbeddedServers
from tests.campaigns.mcp.installing import PYTHON, SOURCES
from tests.canaries import canary

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="the SDK is not installed: make mcp-conformance installs it")
KEY = canary.create_key("a variable of the SDK's server", 32)
ENTRY = {"name": "sdk", "command": [str(PYTHON), str(SOURCES / "stdio_server.py")], "cwd": str(SOURCES), "env": ["SDK_KEY"]}


@asynccontextmanager
async def open_accepted() -> AsyncIterator[EmbeddedServers]:
    env = {"SDK_KEY": KEY, "UNNAMED": "what nobody names"}
    async with EmbeddedServers.open([ENTRY], env=env) as servers:
        digests = {tool.tool: tool.digest for tool in await servers.list_waiting()}
    async with EmbeddedServers.open([{**ENTRY, "accept": digests}], env=env) as servers:
        yield servers


async def test_its_tools_are_called_once_they_were_accepted() -> None:
    async with open_accepted() as servers:
        result = await servers.call("sdk__echo", {"text": "hello"})
    assert (result.ok, "hello" in result.content) == (True, True)


async def test_it_has_the_named_variable_alone_which_is_redacted() -> None:
    async with open_accepted() as servers:
        content = (await servers.call("sdk__name_variables", {})).content
    assert (KEY in content, "UNNAMED" in content, "[redacted:SDK_KEY]" in content) == (False, False, True)

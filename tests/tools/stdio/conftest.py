"""Fixtures of local MCP servers: the peer of the tests as a process, in embedded use."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ferryman.composition.embedded_servers import EmbeddedServers
from tests.canaries import canary

PEER = Path(__file__).with_name("peer.py")
KEY = canary.create_key("a variable of a local server", 32)
ENVIRONMENT = {"PEER_KEY": KEY, "PEER_LANGUAGE": "en", "UNNAMED": "what nobody names"}


def describe(kind: str = "modern", **fields: Any) -> dict[str, Any]:
    """Return the configuration of the peer of this kind."""
    command = [sys.executable, "-I", str(PEER), kind]
    return {
        "name": "peer",
        "command": command,
        "cwd": str(PEER.parent),
        "env": ["PEER_KEY", "PEER_LANGUAGE"],
        "public_env": ["PEER_LANGUAGE"],
        **fields,
    }


Open = Callable[..., AbstractAsyncContextManager[EmbeddedServers]]


@pytest.fixture
def open_accepted() -> Open:
    """A function that opens a peer of some kind, all of whose tools were accepted as it lists them at first."""

    @asynccontextmanager
    async def opening(kind: str = "modern") -> AsyncIterator[EmbeddedServers]:
        async with EmbeddedServers.open([describe(kind)], env=ENVIRONMENT) as servers:
            digests = {tool.tool: tool.digest for tool in await servers.list_waiting()}
        async with EmbeddedServers.open([describe(kind, accept=digests)], env=ENVIRONMENT) as servers:
            yield servers

    return opening

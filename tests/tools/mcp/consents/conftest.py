"""One MCP server and its authorization server for each test, over TLS, behind the real gate."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from emulator.clock import EmulatorClock
from emulator.internet import Internet
from emulator.internet.authority import Authority
from emulator.internet.mcp.rules import McpRules
from emulator.internet.oauth import Rules
from tests.tools.mcp.consents.harness import HOST, ISSUER, LOGIN, URL, ConnectHarness


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with certificates, made once."""
    folder = tmp_path_factory.mktemp("authority")
    Authority(folder / "internet")
    return folder


@pytest.fixture
async def harness(authority: Path, tmp_path: Path) -> AsyncIterator[ConnectHarness]:
    folder = tmp_path / "internet"
    shutil.copytree(authority, folder)
    clock = EmulatorClock()
    internet = Internet(folder, clock=clock)
    internet.authorize(LOGIN, Rules(clients={}, consent="allow", iss=ISSUER, resources=(URL,)))
    internet.serve_mcp(HOST, McpRules(authorization=LOGIN, scope="tools.read"))
    await internet.start()
    yield ConnectHarness(internet, clock)
    await internet.close()

"""One MCP server and its authorization server for each test, over TLS, behind the real gate."""

from __future__ import annotations

import pytest

from emulator.clock import EmulatorClock
from emulator.internet import Internet
from emulator.internet.mcp.rules import McpRules
from emulator.internet.oauth import Rules
from tests.tools.mcp.consents.harness import HOST, ISSUER, LOGIN, URL, ConnectHarness


@pytest.fixture
async def harness(internet: Internet, network_clock: EmulatorClock) -> ConnectHarness:
    internet.authorize(LOGIN, Rules(clients={}, consent="allow", iss=ISSUER, resources=(URL,)))
    internet.serve_mcp(HOST, McpRules(authorization=LOGIN, scope="tools.read"))
    await internet.start()
    return ConnectHarness(internet, network_clock)

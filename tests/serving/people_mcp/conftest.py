"""People's MCP server, as ann."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.serving.people_mcp.stage import McpStage


@pytest.fixture
async def people() -> AsyncIterator[McpStage]:
    stage = McpStage()
    stage.answer()
    yield stage
    stage.queue.is_open = False
    await stage.settle()

"""A stage with a small server, and a client of it."""

from __future__ import annotations

import pytest

from .client import Client
from .servers import Stage


@pytest.fixture
async def stage() -> Stage:
    return Stage()


@pytest.fixture
async def client(stage: Stage) -> Client:
    return Client(stage.server, capabilities={"elicitation": {"url": {}}, "extensions": {"io.modelcontextprotocol/tasks": {}}})


@pytest.fixture
async def plain(stage: Stage) -> Client:
    """A client that declares nothing."""
    return Client(stage.server)

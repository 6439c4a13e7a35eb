"""A few plays of the hostile model on the journeys' stack; `make hostile` plays all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import pytest

from ferryman.gcp.clients import Clients
from ferryman.wiring.local import hello
from ferryman.wiring.local.admin import Admin
from tests.hostile.plays import PLAYS
from tests.hostile.season import played
from tests.hostile.stage import AUTHORITY, OWN_HOSTS, Stage, staged
from tests.hostile.upstream import Upstream

CHOSEN = (
    "exfiltration: body value, base64|hex",
    "exfiltration: names and values by turns",
    "credential: to another service's host",
    "tool: http_post, which is not enabled",
    "echo: in base64",
    "frame: closed in mathematical letters",
    "redirect: to a thief, with the key",
    "neighbour: reads the calls",
)


@pytest.fixture
async def stage(stack: Mapping[str, Any], admin: Admin, clients: Clients) -> AsyncIterator[Stage]:
    async with (
        Upstream(stack["data"] / AUTHORITY) as upstream,
        staged(stack["functions"], stack["project"], stack["data"], admin, clients, upstream) as stage,
    ):
        yield stage
        async with httpx.AsyncClient(base_url=admin.url, trust_env=False) as http:
            for host in OWN_HOSTS:
                await http.delete(f"/hosts/{host}")
    await hello.load(admin)


async def test_a_hostile_model_gets_nothing(stage: Stage) -> None:
    chosen = [play for play in PLAYS if play.name in CHOSEN]
    assert len(chosen) == len(CHOSEN)
    found = await played(stage, chosen)
    assert (found.got, found.missed) == ({}, {})
    assert stage.upstream.seen, "what may be asked was asked"

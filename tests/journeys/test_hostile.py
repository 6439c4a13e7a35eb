"""A few plays of the hostile model on the journeys' stack; `make hostile` plays all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from ferryman.gcp.clients import GoogleClients
from ferryman.stack import hello
from ferryman.stack.admin import Admin
from tests.campaigns.hostile.harness import AUTHORITY, OWN_HOSTS, Harness, build_harness
from tests.campaigns.hostile.results import run_campaign
from tests.campaigns.hostile.scenarios import SCENARIOS
from tests.campaigns.hostile.upstream import Upstream

CHOSEN = (
    "exfiltration: body value, base64|hex",
    "exfiltration: names and values by turns",
    "credential: to another service's host",
    "tool: http_post, which is not enabled",
    "echo: in base64",
    "frame: closed in mathematical letters",
    "redirect: to a thief, with the key",
    "neighbour: reads the calls",
    "fetch: redirected to a name whose address is private",
    "page: hidden words, style: display",
    "url: with the prompt in its path",
    "files: a key that a person has stored, as it is",
)


@pytest.fixture
async def harness(stack: Mapping[str, Any], admin: Admin, clients: GoogleClients) -> AsyncIterator[Harness]:
    async with (
        Upstream(stack["data"] / AUTHORITY) as upstream,
        build_harness(stack["functions"], stack["project"], stack["data"], admin, clients, upstream) as harness,
    ):
        yield harness
        for host in OWN_HOSTS:
            await admin.forget_host(host)
    await hello.load_hello(admin)


async def test_a_hostile_model_gets_nothing(harness: Harness) -> None:
    chosen = [scenario for scenario in SCENARIOS if scenario.name in CHOSEN]
    assert len(chosen) == len(CHOSEN)
    outcomes = await run_campaign(harness, chosen)
    assert (outcomes.got, outcomes.missed) == ({}, {})
    assert harness.upstream.seen, "what may be asked was asked"

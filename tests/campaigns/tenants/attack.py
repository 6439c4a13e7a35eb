"""The attack: each tenant attempts what belongs to the next one, while the executions of all of them run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from ferryman.client import AsyncClient
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from tests.campaigns.isolation.attempts import WORD
from tests.campaigns.isolation.live import LiveResults, LiveSide, attempt_live, list_live_attempts
from tests.campaigns.tenants.tenants import NAME, Tenant

ATTEMPTS = 60
"""Of each tenant in a round, at most."""


ANSWER_S = 60.0
"""Seconds in which every attempt has to be answered."""


async def attack(tenants: Sequence[Tenant], stack: Mapping[str, Any], *, seed: int) -> LiveResults:
    """Have each tenant attempt what is the next one's. Raise `httpx.TransportError` where the API does not answer."""
    results, limits = LiveResults(), httpx.Limits(max_keepalive_connections=0)  # none is closed when it is used again
    async with httpx.AsyncClient(base_url=stack["url"], trust_env=False, timeout=ANSWER_S, limits=limits) as http:
        attempts = await list_live_attempts(http, seed, ATTEMPTS)
        sides = [await _describe(tenant, tenant.client) for tenant in tenants]
        outcomes = await asyncio.gather(
            *(
                attempt_live(http, attempts, mine, theirs, seed)
                for mine, theirs in zip(sides, [*sides[1:], *sides[:1]], strict=True)
            )
        )
    for outcome in outcomes:
        results.join(outcome)
    return results


async def _describe(tenant: Tenant, client: AsyncClient) -> LiveSide:
    """Return what a tenant has, with an execution of its own that is cancelled before it starts."""
    workspace = derive_default_workspace((await client.get_me())["owner"])
    execution = (await client.start_execution(tenant.task, tenant.prompt))["execution_id"]
    await client.cancel_execution(execution)
    ids = {"workspace": workspace, "agent": derive_default_agent(workspace), "task": tenant.task, "execution": execution}
    return LiveSide(
        headers={"Authorization": client._http.headers["Authorization"]}, ids={**ids, "credential": NAME, WORD: tenant.name}
    )

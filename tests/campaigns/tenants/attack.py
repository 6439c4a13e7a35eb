"""The attack: each tenant attempts what belongs to the next one, while the executions of all of them run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from ferryman.client import AsyncClient
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from tests.campaigns.isolation.attempts import WORD
from tests.campaigns.isolation.live import LiveSide, attempt_live, list_live_attempts
from tests.campaigns.tenants.tenants import NAME, Tenant

ATTEMPTS = 60
"""Of each tenant in a round, at most."""


async def attack(tenants: Sequence[Tenant], stack: Mapping[str, Any], *, seed: int) -> tuple[int, list[str]]:
    """Return how many attempts were judged, and what was found."""
    async with httpx.AsyncClient(base_url=stack["url"], trust_env=False, timeout=60) as http:
        attempts = await list_live_attempts(http, seed, ATTEMPTS)
        sides = [await _describe(tenant, tenant.client) for tenant in tenants]
        outcomes = await asyncio.gather(
            *(
                attempt_live(http, attempts, mine, theirs, seed)
                for mine, theirs in zip(sides, [*sides[1:], *sides[:1]], strict=True)
            )
        )
    return sum(judged for judged, _ in outcomes), [finding for _, findings in outcomes for finding in findings]


async def _describe(tenant: Tenant, client: AsyncClient) -> LiveSide:
    """Return what a tenant has, with an execution of its own that is cancelled before it starts."""
    workspace = derive_default_workspace((await client.get_me())["owner"])
    execution = (await client.start_execution(tenant.task, tenant.prompt))["execution_id"]
    await client.cancel_execution(execution)
    ids = {"workspace": workspace, "agent": derive_default_agent(workspace), "task": tenant.task, "execution": execution}
    return LiveSide(
        headers={"Authorization": client._http.headers["Authorization"]}, ids={**ids, "credential": NAME, WORD: tenant.name}
    )

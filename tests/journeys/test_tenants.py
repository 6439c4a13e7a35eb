"""Two owners at work at once, on the same services and hosts: nothing of one comes to the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ferryman.stack.admin import Admin
from tests.campaigns.tenants.tenants import Tenant, create_tenant, find_crossed, prepare, run_executions
from tests.campaigns.tenants.upstream import HOSTS, Upstream, serve_upstream
from tests.journeys.conftest import NewClient

OWNERS, EXECUTIONS = 2, 3


@pytest.fixture
async def upstream(stack: Mapping[str, Any], admin: Admin) -> AsyncIterator[Upstream]:
    async with serve_upstream(Path(stack["data"])) as upstream:
        for host in HOSTS:
            await admin.map_host(host, upstream.port)
        yield upstream


async def test_nothing_of_one_owner_is_in_anything_of_another(
    stack: Mapping[str, Any], admin: Admin, new_client: NewClient, upstream: Upstream
) -> None:
    tenants: list[Tenant] = [create_tenant(await new_client("pro"), number) for number in range(OWNERS)]
    for tenant in tenants:
        await prepare(tenant, admin, upstream)
    await run_executions(tenants, EXECUTIONS)
    assert await find_crossed(tenants, stack, upstream) == []
    assert len(upstream.seen) == OWNERS * EXECUTIONS * 4
    switches = sum(before.tenant != after.tenant for before, after in pairwise(upstream.seen))
    assert switches >= EXECUTIONS, "the owners' requests were not interleaved"
    for tenant in tenants:
        assert all(
            f"Bearer {tenant.key}".encode() in seen.content
            for seen in upstream.seen
            if seen.tenant == tenant.name and b"POST" in seen.content
        )

"""Two owners at work at once, on the same services and hosts: nothing of one comes to the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ferryman.stack.admin import Admin
from tests.campaigns.tenants.play import Tenant, crossings, play, prepare, tenant
from tests.campaigns.tenants.upstream import HOSTS, Upstream, serving
from tests.journeys.conftest import NewClient

OWNERS, EXECUTIONS = 2, 3


@pytest.fixture
async def upstream(stack: Mapping[str, Any], admin: Admin) -> AsyncIterator[Upstream]:
    async with serving(Path(stack["data"])) as upstream:
        for host in HOSTS:
            await admin.map_host(host, upstream.port)
        yield upstream


async def test_nothing_of_one_owner_is_in_anything_of_another(
    stack: Mapping[str, Any], admin: Admin, new_client: NewClient, upstream: Upstream
) -> None:
    tenants: list[Tenant] = [tenant(await new_client("pro"), number) for number in range(OWNERS)]
    for each in tenants:
        await prepare(each, admin, upstream)
    await play(tenants, EXECUTIONS)
    assert await crossings(tenants, stack, upstream) == []
    assert len(upstream.seen) == OWNERS * EXECUTIONS * 4
    switches = sum(before.tenant != after.tenant for before, after in pairwise(upstream.seen))
    assert switches >= EXECUTIONS, "the owners' requests were not interleaved"
    for each in tenants:
        assert all(
            f"Bearer {each.key}".encode() in seen.content
            for seen in upstream.seen
            if seen.tenant == each.name and b"POST" in seen.content
        )

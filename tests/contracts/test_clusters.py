"""Clusters of declared tools: stored, replaced and deleted as one."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.http.request import BodyType, Method
from ferryman.domain.jobs.job import JobKind
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.stale import StaleError
from ferryman.domain.tools.declared import (
    TASK_BYTES_MAX,
    TOOLS_PER_TASK_MAX,
    Apply,
    ClientCredentials,
    DeclaredTool,
    Exchange,
    Extract,
    Parameter,
    Style,
    TokenExchange,
    ToolRow,
)
from ferryman.ports.errors import UnavailableError

from .belongings import build_job, fill
from .conftest import Stores
from .values import TASK

PET = DeclaredTool(
    name="getPet",
    description="näme ☂",
    url="https://api.example.com/pets/{id}",
    query={"a[b]": "{{a}}"},
    headers={"Authorization": "Bearer {{secrets.A}}"},
    body={"rows": [[1, "{{x}}"], []]},
    body_type=BodyType.FORM,
    method=Method.PATCH,
    ok_statuses=(200, 404),
    parameters={"id": Parameter(schema={"type": "string", "enum": [["a"]]}, required=False, style=Style.PIPE)},
    auth=ClientCredentials(token_url="https://auth.example.com/t", client_id="me", client_secret="{{secrets.A}}"),
)
LOGIN = replace(
    PET,
    name="login",
    auth=TokenExchange(
        request=Exchange(url="https://auth.example.com/login", body={"user": "{{secrets.A}}"}),
        extract=Extract(token_path="$.token"),
        apply=Apply(location="query", name="t"),
        cache_ttl=60,
    ),
)


async def test_pages_of_tools_hold_each_once_by_cluster_and_name(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    named = [(cluster, f"{name}{cluster}", name != "c") for cluster in ("", "a", "b") for name in ("c", "a", "b")]
    for cluster in ("b", "", "a"):
        tools = [replace(PET, name=name, cluster=cluster, enabled=on) for at, name, on in named if at == cluster]
        await stores.clusters.put(TASK.id, cluster, tools, since=0)

    async def read_pages(most: int, **which: Any) -> list[list[str]]:
        pages, after, has_more = [], None, True
        while has_more:
            tools, has_more = await stores.clusters.page(TASK.id, after=after, most=most, **which)
            pages.append([tool.name for tool in tools])
            after = (tools[-1].cluster, tools[-1].name)
        return pages

    assert await read_pages(4) == [["a", "b", "c", "aa"], ["ba", "ca", "ab", "bb"], ["cb"]]
    assert await read_pages(3, enabled=True) == [["a", "b", "aa"], ["ba", "ab", "bb"]]
    assert await read_pages(2, enabled=True, select=lambda names: {*names} & {"a", "c", "aa", "bb"}) == [["a", "aa"], ["bb"]]
    assert await stores.clusters.page(TASK.id, after=None, most=0) == ((), True)
    assert await stores.clusters.page("task_none", after=None, most=5) == ((), False)


async def test_tools_come_back_as_they_were_stored(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    cluster = await stores.clusters.put(TASK.id, "pets/1 ☂", [LOGIN, PET], since=0)
    assert cluster.size_bytes > 1_000
    assert cluster.rows == tuple(ToolRow(name=tool.name, fingerprint=tool.fingerprint, enabled=True) for tool in (LOGIN, PET))
    assert await stores.clusters.list(TASK.id) == [cluster]
    assert await stores.clusters.tools(TASK.id) == [LOGIN, PET]
    assert await stores.clusters.find(TASK.id, "getPet") == PET
    assert await stores.clusters.find(TASK.id, "getCat") is None


async def test_what_is_stored_again_replaces_all_that_was_there(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    first = await stores.clusters.put(TASK.id, "pets", [PET, LOGIN], since=0)
    second = await stores.clusters.put(TASK.id, "pets", [replace(PET, name="cat")], since=first.generation)
    assert second.generation > first.generation
    assert [tool.name for tool in await stores.clusters.tools(TASK.id)] == ["cat"]


async def test_a_cluster_that_was_stored_meanwhile_is_not_replaced(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.clusters.put(TASK.id, "pets", [PET], since=0)
    with pytest.raises(StaleError):
        await stores.clusters.put(TASK.id, "pets", [LOGIN], since=0)
    assert await stores.clusters.tools(TASK.id) == [PET]


async def test_of_two_that_are_stored_at_once_one_stays_whole(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    puts = (stores.clusters.put(TASK.id, "pets", [replace(PET, summary=f"{number}")], since=0) for number in range(2))
    outcomes = await asyncio.gather(*puts, return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Cluster", "StaleError"]
    assert len(await stores.clusters.tools(TASK.id)) == 1


async def test_a_cluster_goes_with_all_its_tools(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.clusters.put(TASK.id, "pets", [PET], since=0)
    await stores.clusters.put(TASK.id, "", [LOGIN], since=0)
    assert await stores.clusters.delete(TASK.id, "pets") is True
    assert await stores.clusters.delete(TASK.id, "pets") is False
    assert await stores.clusters.find(TASK.id, "getPet") is None
    assert await stores.clusters.tools(TASK.id) == [LOGIN]


async def test_a_name_is_taken_by_one_cluster_only(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.clusters.put(TASK.id, "pets", [PET], since=0)
    with pytest.raises(InvalidInputError, match=r"tools\.1\.name: getPet is taken by cluster 'pets'"):
        await stores.clusters.put(TASK.id, "cats", [LOGIN, PET], since=0)
    assert [cluster.name for cluster in await stores.clusters.list(TASK.id)] == ["pets"]


async def test_a_task_has_so_many_tools_and_no_more(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    many = [replace(PET, name=f"t{number}") for number in range(TOOLS_PER_TASK_MAX)]
    await stores.clusters.put(TASK.id, "many", many, since=0)
    with pytest.raises(InvalidInputError, match="at most 2000 declared tools, not 2001"):
        await stores.clusters.put(TASK.id, "", [PET], since=0)
    assert [tool.name for tool in await stores.clusters.tools(TASK.id)] == [tool.name for tool in many]
    assert await stores.clusters.find(TASK.id, "t1999") == many[-1]


async def test_a_task_has_tools_of_so_many_bytes_and_no_more(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    large = [replace(PET, name=f"t{number}", body="x" * 60_000) for number in range(TASK_BYTES_MAX // 62_000)]
    await stores.clusters.put(TASK.id, "large", large, since=0)
    with pytest.raises(InvalidInputError, match="at most 16777216 bytes as JSON"):
        await stores.clusters.put(TASK.id, "more", [replace(tool, name=f"u{tool.name}") for tool in large[:9]], since=0)
    assert [cluster.name for cluster in await stores.clusters.list(TASK.id)] == ["large"]


async def test_tools_go_with_their_task(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    await stores.clusters.put(TASK.id, "pets", [PET], since=0)
    await stores.tasks.delete(TASK.id)
    assert await stores.clusters.list(TASK.id) == []
    with pytest.raises(StaleError):
        await stores.clusters.put(TASK.id, "pets", [PET], since=0)


@pytest.mark.parametrize(("kind", "subject"), [(JobKind.DELETE_WORKSPACE, "ws_1"), (JobKind.DELETE_AGENT, "agent_1")])
async def test_tools_are_not_stored_under_a_task_that_is_being_deleted(stores: Stores, kind: JobKind, subject: str) -> None:
    await fill(stores)
    await stores.jobs.start(build_job(kind, subject))
    with pytest.raises(StaleError, match="the task was deleted"):
        await stores.clusters.put("task_ws_1", "late", [PET], since=0)
    assert [cluster.name for cluster in await stores.clusters.list("task_ws_1")] == ["c"]


async def test_a_commit_whose_answer_is_lost_leaves_tools_that_can_be_read(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    from google.api_core.exceptions import ServiceUnavailable
    from google.cloud.firestore_v1.async_transaction import AsyncTransaction

    await stores.tasks.create(TASK)
    await stores.clusters.put(TASK.id, "pets", [PET], since=0)
    commit = AsyncTransaction._commit

    async def unheard(self: AsyncTransaction) -> None:
        is_last = len(self._write_pbs) > 1  # each of those before it writes one part
        await commit(self)
        if is_last:
            raise ServiceUnavailable("the answer is lost")

    with monkeypatch.context() as network, suppress(UnavailableError):
        network.setattr(AsyncTransaction, "_commit", unheard)
        await stores.clusters.put(TASK.id, "pets", [LOGIN], since=1)
    assert [tool.name for tool in await stores.clusters.tools(TASK.id)] == ["login"]


async def test_a_name_that_is_no_unicode_is_of_no_cluster(stores: Stores) -> None:
    await stores.tasks.create(TASK)
    assert await stores.clusters.delete(TASK.id, "\ud800") is False

"""Idempotency keys on the deployed API: its instance dies under requests, and each thing that is asked for is there once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ferryman.client import ApiUnreachableError, AsyncClient
from ferryman.stack.admin import Admin
from tests.journeys.conftest import NewClient

TASK = {"name": "once", "model": "scripted/none", "task_prompt": "Do."}
ROUNDS, STARTS = 1, 8


@pytest.mark.timeout(400)  # an attempt that died counts as under way for a minute
async def test_starts_that_the_api_dies_under_start_once_each(new_client: NewClient, admin: Admin) -> None:
    client = await new_client("pro")
    task = (await client.create_task(TASK))["task_id"]
    started = []
    for round_ in range(ROUNDS):
        names = range(round_ * STARTS, (round_ + 1) * STARTS)
        starts = [asyncio.ensure_future(client.start_execution(task, f"number {number}")) for number in names]
        await asyncio.wait(starts, return_when=asyncio.FIRST_COMPLETED)
        await admin.kill("api")
        started += await asyncio.gather(*starts)
    stored = await _list_once_it_is_back(client, task)
    records = await asyncio.gather(*(client.get_execution(execution["execution_id"]) for execution in stored))
    assert sorted(record["input"] for record in records) == sorted(f"number {number}" for number in range(ROUNDS * STARTS))
    assert {execution["execution_id"] for execution in stored} == {execution["execution_id"] for execution in started}


async def _list_once_it_is_back(client: AsyncClient, task: str) -> list[dict[str, Any]]:
    """Return the task's executions: where all starts were answered before the API died, it is just being started again."""
    async with asyncio.timeout(60):
        while True:
            try:
                return await client.list_executions(task=task)
            except ApiUnreachableError:
                await asyncio.sleep(0.1)

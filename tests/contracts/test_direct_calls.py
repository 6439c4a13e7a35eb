"""Direct calls in the stores: what they were started with comes back, and a turn stores their scanned arguments."""

from __future__ import annotations

from dataclasses import replace

import pytest

from .conftest import Stores
from .values import EXECUTION, LATER, LEASE, NOW, TASK, apply_turn, open_execution, put, read_execution, turn

CALL = replace(EXECUTION, called_tool="http_get", input='{"url":"https://a.test/?k=KEY"}', is_from_client=True)
SCANNED = '{"url":"https://a.test/?k=[redacted:KEY]"}'


async def test_one_comes_back_as_it_was_created(stores: Stores) -> None:
    await put(stores.tasks, stores.executions, CALL)
    assert await stores.executions.get(CALL.id) == CALL
    page = await stores.executions.list(TASK.workspace)
    assert [item.called_tool for item in page.items] == ["http_get"]


@pytest.mark.parametrize("is_checked", [True, False])
async def test_its_turn_stores_its_scanned_arguments(stores: Stores, is_checked: bool) -> None:
    await put(stores.tasks, stores.executions, CALL)
    claimed, _ = await stores.executions.claim(CALL.id, slice=0, holder="h", now=NOW, lease=LEASE)
    if is_checked:
        await stores.executions.check(claimed, now=NOW)
    await stores.executions.commit(apply_turn(replace(claimed, input=SCANNED)), turn(), now=LATER, lease=LEASE)
    assert (await read_execution(stores)).input == SCANNED


async def test_the_turn_of_any_other_stores_no_input(stores: Stores) -> None:
    execution = replace(await open_execution(stores), input="another")
    await stores.executions.commit(apply_turn(execution), turn(), now=LATER, lease=LEASE)
    assert (await read_execution(stores)).input == EXECUTION.input

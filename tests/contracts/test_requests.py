"""Requests: a document that an application wrote becomes an execution once, under the limits of every start, or is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.executions.occupancy import TooManyQueuedError
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.receipts.receipt import Head, ReceiptKind
from ferryman.ports.errors import NotAdmittedError, TaskDisabledError
from ferryman.ports.executions import ExecutionEnding

from .conftest import Stores
from .values import DONE, ENTRY, EXECUTION, LATER, LEASE, NOW, OPENING, OWNER, POLICY, TASK, TOO_LATE, receipts

ORDER = replace(EXECUTION, id="order-42", labels={"color": "red"})
FIELDS: dict[str, Any] = {"task": "task_1", "input": "Paris\n☂"}


@pytest.fixture
async def deps(stores: Stores) -> Stores:
    await stores.owners.put(OWNER)
    await stores.tasks.create(TASK)
    return stores


async def claim(deps: Stores, name: str = "order-42") -> Execution:
    execution, is_claimed = await deps.executions.claim(name, slice=0, holder="h", now=NOW, lease=LEASE)
    assert is_claimed
    return execution


async def test_a_request_is_no_execution_yet(deps: Stores) -> None:
    await deps.ask("order-42", {**FIELDS, "owner": "ann"})
    with pytest.raises(NotAdmittedError):
        await claim(deps)
    assert await deps.executions.get("order-42") is None
    assert (await deps.executions.list(TASK.workspace)).items == ()
    assert await deps.executions.cancel("order-42", by="owner", now=NOW) is None
    assert await deps.executions.next_queued("ann", now=TOO_LATE) == ()


async def test_its_fields_are_found_as_they_were_written(deps: Stores) -> None:
    await deps.ask("order-42", FIELDS)
    assert await deps.executions.find_request("order-42") == FIELDS
    assert await deps.executions.find_request("order-43") is None


async def test_an_admitted_one_is_an_execution_like_any_other(deps: Stores) -> None:
    await deps.ask("order-42", FIELDS)
    await deps.executions.admit(ORDER, most=1)
    assert await deps.executions.get("order-42") == ORDER
    assert [listed.id for listed in (await deps.executions.list(TASK.workspace)).items] == [ORDER.id]
    assert (await claim(deps)).labels == {"color": "red"}


async def test_it_is_admitted_once(deps: Stores) -> None:
    await deps.ask("order-42", FIELDS)
    await deps.executions.admit(ORDER, most=1)
    await deps.executions.admit(replace(ORDER, input="again"), most=1)
    assert await deps.executions.get("order-42") == ORDER
    claimed = await claim(deps)
    await deps.executions.admit(replace(ORDER, input="again"), most=1)
    assert await deps.executions.get("order-42") == claimed


async def test_it_counts_among_the_queued(deps: Stores) -> None:
    await deps.executions.start(EXECUTION, most=1)
    await deps.ask("order-42", FIELDS)
    with pytest.raises(TooManyQueuedError):
        await deps.executions.admit(ORDER, most=1)
    assert await deps.executions.get("order-42") is None


async def test_a_disabled_task_admits_none(deps: Stores) -> None:
    await deps.ask("order-42", FIELDS)
    await deps.tasks.update(replace(TASK, enabled=False), ["enabled"], since=TASK.updated_at)
    with pytest.raises(TaskDisabledError):
        await deps.executions.admit(ORDER, most=1)


async def test_a_document_that_is_gone_is_not_written_again(deps: Stores) -> None:
    with pytest.raises(KeyError):
        await deps.executions.admit(ORDER, most=1)
    await deps.executions.refuse("order-42", "task: is missing", {}, now=NOW)
    assert await deps.executions.find_request("order-42") is None


async def test_one_that_another_delivery_admitted_is_not_refused(deps: Stores) -> None:
    await deps.ask("order-42", FIELDS)
    await deps.executions.admit(ORDER, most=1)
    fields = await deps.executions.find_request("order-42")
    assert fields is not None
    assert fields["task"] == TASK.id
    assert not await deps.executions.refuse("order-42", "conversation: must be an id", FIELDS, now=LATER)
    assert await claim(deps)


async def test_a_refused_one_says_why_in_its_place_and_is_not_asked_again(deps: Stores) -> None:
    await deps.ask("order-42", {**FIELDS, "credits_used": -500})
    assert await deps.executions.refuse("order-42", "owner: is not the owner", FIELDS, now=LATER)
    ended = {"status": "failed", "error": "owner: is not the owner", "created_at": LATER, "completed_at": LATER}
    place = {"owner": "ann", "workspace": TASK.workspace, "agent": TASK.agent}
    assert await deps.read_refused("order-42") == {**FIELDS, **ended, **place}
    assert await deps.executions.find_request("order-42") is None
    with pytest.raises(NotAdmittedError):
        await claim(deps)
    assert (await deps.executions.list(TASK.workspace)).items == ()


@pytest.mark.parametrize("ids", [{"task": "task_none"}, {"task": "task_1", "owner": "bob"}, {}], ids=str)
async def test_the_content_of_one_that_belongs_nowhere_is_not_stored(deps: Stores, ids: dict[str, str]) -> None:
    fields = {**ids, "input": "Paris", "labels": {"color": "red"}}
    await deps.ask("order-42", fields)
    await deps.executions.refuse("order-42", "task: there is none", fields, now=LATER)
    ended = {"status": "failed", "error": "task: there is none", "created_at": LATER, "completed_at": LATER}
    assert await deps.read_refused("order-42") == {**ids, **ended}


async def test_the_name_of_an_earlier_run_is_not_taken_twice(deps: Stores) -> None:
    await deps.executions.start(EXECUTION, most=1)
    claimed = replace(await claim(deps, "exec_1"), policy=POLICY, events=1)
    await deps.executions.open(claimed, OPENING, entry=replace(ENTRY, id="order-42.start"), now=NOW)
    await deps.ask("order-42", FIELDS)
    with pytest.raises(InvalidInputError, match="id: an earlier run had this name"):
        await deps.executions.admit(ORDER, most=9)


async def test_the_name_of_a_run_that_was_never_opened_is_not_taken_twice_while_its_receipt_is_there(deps: Stores) -> None:
    await deps.ask("order-42", FIELDS)
    await deps.executions.admit(ORDER, most=1)
    closed, head = receipts(Head(), ReceiptKind.CLOSED, execution="order-42")
    ended = replace(await claim(deps), receipts=head)
    assert await deps.executions.finish(ended, ExecutionEnding(status=Status.FAILED, receipts=closed), now=NOW) is not None
    await deps.forget("order-42")
    await deps.ask("order-42", FIELDS)
    with pytest.raises(InvalidInputError, match="id: an earlier run had this name"):
        await deps.executions.admit(ORDER, most=9)


async def test_it_ends_like_any_other(deps: Stores) -> None:
    await deps.ask("order-42", FIELDS)
    await deps.executions.admit(ORDER, most=1)
    await deps.executions.finish(await claim(deps), DONE, now=NOW)
    ended = await deps.executions.get("order-42")
    assert ended is not None
    assert ended.status is Status.COMPLETED

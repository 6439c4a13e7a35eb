"""A claim whose answer was lost: it is recognised by its name, as long as nothing became of the call meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from google.api_core.exceptions import FailedPrecondition

from ferryman.domain.calls.call import TicketState
from ferryman.gcp.wire import FirestoreWire
from tests.contracts.conftest import Stores, on_google_cloud
from tests.contracts.test_executions import open_execution
from tests.contracts.values import LATER, LEASE, NOW, RESULT, call_request, turn

Meanwhile = Callable[[], Awaitable[Any]]


@pytest.fixture
async def stores() -> AsyncIterator[Stores]:
    async with on_google_cloud() as stores:
        await stores.executions.commit(await open_execution(stores), turn(), now=NOW, lease=LEASE)
        yield stores


def lose_answers(monkeypatch: pytest.MonkeyPatch, meanwhile: Meanwhile) -> None:
    """Have the next commit stored, and its repetition refused, as the client's own retry meets it."""
    commit = FirestoreWire.commit

    async def lose(wire: FirestoreWire, *arguments: Any, **named: Any) -> Any:
        monkeypatch.setattr(FirestoreWire, "commit", commit)
        await commit(wire, *arguments, **named)
        await meanwhile()
        raise FailedPrecondition("the document was written since")

    monkeypatch.setattr(FirestoreWire, "commit", lose)


async def test_it_is_the_claim_of_who_made_it(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    async def wait() -> None:
        pass

    lose_answers(monkeypatch, wait)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=LATER)
    assert (claimed_call.ticket.state, claimed_call.ticket.attempt, claimed_call.again) == (TicketState.SENT, 1, False)
    await stores.tickets.settle(claimed_call, RESULT, now=LATER)
    assert next(iter(await stores.executions.tickets("exec_1"))).result == RESULT


async def test_a_call_that_was_settled_meanwhile_stays_as_it_was_settled(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled = replace(RESULT, content="settled by the loop")

    async def settle() -> None:
        execution = await stores.executions.get("exec_1")
        assert execution is not None
        await stores.executions.settle(execution, 0, settled, now=LATER)

    lose_answers(monkeypatch, settle)
    claimed_call = await stores.tickets.claim(call_request(0), tool="api_call", now=LATER)
    assert (claimed_call.ticket.state, claimed_call.ticket.result) == (TicketState.SETTLED, settled)

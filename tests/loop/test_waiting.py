"""Waiting for people: while a person decides about a call, nothing runs and nothing is held; then the execution goes on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from ferryman.catalog.tools import get_fee
from ferryman.domain.approvals.approval import LIFETIME, ApprovalState
from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.domain.calls.call import TicketState
from ferryman.domain.conversations.message import Message, Speaker
from ferryman.domain.credits.balance import name_owner_balance
from ferryman.domain.credits.ledger import sum_accounts
from ferryman.domain.executions.execution import OWNER, Status
from ferryman.domain.executions.occupancy import Occupancy
from ferryman.inmemory.alerts import MemoryAlertQueue
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.model import ScriptedModel
from ferryman.inmemory.queue import MemoryQueue, QueuedDelivery
from ferryman.loop.parking import LONGEST
from ferryman.loop.run import deliver
from ferryman.ports.errors import UnavailableError

from .conftest import fetches, says
from .waiting import WaitingStage

DAY = timedelta(days=1)
POST = ("api_call", {"method": "GET", "url": "https://api.coingecko.com/x"})


@pytest.fixture
def stage() -> WaitingStage:
    return WaitingStage()


async def start(stage: WaitingStage, *script: object) -> None:
    """Run the execution until its call waits; then the model says that it is done, or what `script` has."""
    await stage.run(*([fetches(), *script] if script else [fetches(), says("Done.")]))


def reserved(stage: WaitingStage) -> Decimal:
    return stage.memory.balances["owner:o"].credits_reserved


def drop_wake_ups(stage: WaitingStage) -> None:
    while stage.queue.take() is not None:
        pass


async def test_an_execution_waits_without_lease_slot_and_reservation(stage: WaitingStage) -> None:
    await start(stage)
    execution, occupied = stage.execution, stage.memory.occupancy["o"]
    assert execution.lease is not None
    assert execution.lease.expires_at == stage.clock.now()
    assert (list(occupied.running), list(occupied.suspended)) == ([], ["e"])
    assert reserved(stage) == execution.credits_reserved == execution.credits_used
    assert (execution.waiting_for, execution.waiting_since) == (stage.pending[0].id, stage.clock.now())


async def test_nothing_was_sent_and_one_delivery_waits_in_the_queue(stage: WaitingStage) -> None:
    await start(stage)
    assert not stage.sent
    assert stage.memory.tickets["e"][0].state is TicketState.WAITING
    assert stage.queue.waiting == (QueuedDelivery("e", 1, LONGEST),)
    assert LIFETIME - timedelta(minutes=5) < LONGEST < LIFETIME


async def test_a_line_of_the_log_says_what_it_waits_for(stage: WaitingStage) -> None:
    await start(stage)
    assert ("call.waiting", {"execution": "e", "approval": stage.pending[0].id, "slice": 1}) in stage.log.lines


async def test_it_goes_on_once_the_call_is_approved_however_long_that_took(stage: WaitingStage) -> None:
    await start(stage)
    stage.clock.turn(29 * DAY)
    await stage.decide()
    await stage.run()
    assert (stage.execution.status, stage.execution.output, len(stage.sent)) == (Status.COMPLETED, "Done.", 1)
    assert (stage.execution.waiting_for, stage.execution.waited_s) == ("", (29 * DAY).total_seconds())


async def test_its_reservation_is_taken_again_and_the_ledger_is_even(stage: WaitingStage) -> None:
    await start(stage)
    stage.clock.turn(DAY)
    await stage.decide()
    await stage.run()
    used = stage.execution.credits_used
    assert (reserved(stage), stage.memory.balances["owner:o"].credits_used) == (0, used)
    accounts = sum_accounts(stage.memory.entries.values())
    assert (accounts["execution:e"], accounts[name_owner_balance("o")]) == (0, -used)


@pytest.mark.parametrize(("before", "status"), [(24, Status.COMPLETED), (26, Status.TIMEOUT)])
async def test_the_time_limit_goes_on_where_it_stood(stage: WaitingStage, before: int, status: Status) -> None:
    await start(stage)
    started_at = stage.clock.now() - timedelta(minutes=before)
    stage.memory.executions["e"] = replace(stage.execution, started_at=started_at)
    stage.clock.turn(DAY)
    await stage.decide()
    await stage.run()
    assert (stage.execution.status, len(stage.sent)) == (status, int(status is Status.COMPLETED))


async def test_a_denied_call_is_answered_and_the_model_goes_on(stage: WaitingStage) -> None:
    await start(stage)
    await stage.decide(DecisionVerdict.DENY)
    await stage.run()
    assert (stage.execution.status, stage.results[0].code, stage.sent) == (Status.COMPLETED, "denied", [])


async def test_a_call_that_nobody_decides_about_expires(stage: WaitingStage) -> None:
    await start(stage)
    waits = [await stage.deliver_next(), await stage.deliver_next()]
    assert sum(waits, timedelta()) == LIFETIME
    assert (stage.execution.status, stage.results[0].code, stage.sent) == (Status.COMPLETED, "approval_expired", [])
    assert [approval.state for approval in stage.memory.approvals.values()] == [ApprovalState.WITHDRAWN]


async def test_a_delivery_that_comes_while_nobody_has_decided_parks_again(stage: WaitingStage) -> None:
    await start(stage)
    before, claims = stage.execution, len(stage.executed)
    stage.clock.turn(DAY)
    assert await stage.run()
    after = stage.execution
    assert (after.slice, after.waiting_for, after.waiting_since) == (2, before.waiting_for, before.waiting_since)
    assert (len(stage.executed), after.credits_reserved) == (claims, before.credits_reserved)


async def test_who_decides_before_the_execution_is_parked_is_not_waited_for(stage: WaitingStage) -> None:
    class Early(MemoryExecutions):
        async def park(self, *arguments: object, **named: object) -> int:
            await stage.decide()
            return await super().park(*arguments, **named)

    deps = replace(stage.deps(), executions=Early(stage.memory), model=ScriptedModel([fetches()]))
    await deliver(deps, "e", slice=0, holder="h")
    assert stage.queue.waiting == (QueuedDelivery("e", 1, timedelta(0), "decided"),)


async def test_a_delivery_of_an_earlier_slice_enqueues_the_wake_up(stage: WaitingStage) -> None:
    await start(stage)
    drop_wake_ups(stage)
    stage.queue = MemoryQueue()
    assert await deliver(stage.deps(), "e", slice=0, holder="h")
    assert stage.queue.waiting == (QueuedDelivery("e", 1, LONGEST),)


async def test_a_cap_that_was_reached_meanwhile_ends_it_as_a_shortage(stage: WaitingStage) -> None:
    await start(stage)
    balance = stage.memory.balances["owner:o"]
    stage.memory.balances["owner:o"] = replace(balance, credits_used=Decimal(10**9))
    await stage.decide()
    await stage.run()
    ticket = stage.memory.tickets["e"][0]
    assert (stage.execution.status, stage.sent, ticket.result.code) == (Status.FAILED, [], "cancelled")
    assert reserved(stage) == 0
    assert sum_accounts(stage.memory.entries.values())["execution:e"] == 0


async def test_a_cancel_ends_it_and_nothing_is_sent(stage: WaitingStage) -> None:
    await start(stage)
    await stage.decide()
    await MemoryExecutions(stage.memory).cancel("e", by=OWNER, now=stage.clock.now())
    await stage.run()
    assert (stage.execution.status, stage.sent, stage.results[0].code) == (Status.KILLED, [], "cancelled")
    assert sum_accounts(stage.memory.entries.values())["execution:e"] == 0


async def test_a_call_that_was_sent_and_whose_host_asks_something_is_in_doubt_once_it_is_cancelled(stage: WaitingStage) -> None:
    stage.asks = ("api_call",)
    await start(stage, says("I call.", POST), says("Done."))
    (waiting,) = [ticket for ticket in stage.memory.tickets["e"].values() if ticket.state is TicketState.WAITING]
    stage.memory.tickets["e"][waiting.seq] = replace(waiting, continuation=b"sealed")
    await MemoryExecutions(stage.memory).cancel("e", by=OWNER, now=stage.clock.now())
    await stage.run()
    assert stage.memory.tickets["e"][waiting.seq].result.code == "in_doubt"


async def test_a_cancel_withdraws_what_nobody_has_decided_about(stage: WaitingStage) -> None:
    await start(stage)
    await MemoryExecutions(stage.memory).cancel("e", by=OWNER, now=stage.clock.now())
    await stage.run()
    assert [approval.state for approval in stage.memory.approvals.values()] == [ApprovalState.WITHDRAWN]
    assert (stage.execution.waiting_for, stage.execution.waiting_since, reserved(stage)) == ("", None, 0)


async def test_a_kill_switch_ends_it_and_nothing_is_sent(stage: WaitingStage) -> None:
    await start(stage)
    await stage.decide()
    stage.memory.halts.add("o")
    await stage.run()
    assert (stage.execution.status, stage.sent, stage.results[0].code) == (Status.KILLED, [], "cancelled")


async def test_a_delivery_of_one_that_was_parked_and_cancelled_does_not_wait(stage: WaitingStage) -> None:
    await start(stage)
    await MemoryExecutions(stage.memory).cancel("e", by=OWNER, now=stage.clock.now())
    drop_wake_ups(stage)
    await deliver(stage.deps(), "e", slice=0, holder="h")
    assert stage.queue.waiting == (QueuedDelivery("e", 1, timedelta(0), "cancel"),)


async def test_others_of_the_owner_take_its_slot_meanwhile(stage: WaitingStage) -> None:
    await start(stage)
    stage.memory.occupancy["o"] = replace(stage.memory.occupancy["o"], queued={"next": stage.clock.now() - DAY})
    drop_wake_ups(stage)
    await stage.run()
    assert QueuedDelivery("next", 0, timedelta(0), "slot") in stage.queue.waiting
    assert isinstance(stage.memory.occupancy["o"], Occupancy)


async def test_an_edited_call_becomes_another_call_that_is_asked_about_itself(stage: WaitingStage) -> None:
    await start(stage)
    await stage.decide(DecisionVerdict.EDIT, edited=json.dumps({"url": "https://api.coingecko.com/other"}))
    await stage.run()
    first, second = stage.memory.tickets["e"].values()
    assert (second.parent, second.tool, second.state) == (0, "http_get", TicketState.WAITING)
    assert second.display_arguments == {"url": "https://api.coingecko.com/other"}
    assert (first.state, stage.sent, stage.execution.waiting_for) == (TicketState.WAITING, [], second.approval)


async def test_the_result_of_an_edited_call_is_read_with_a_line_that_says_so(stage: WaitingStage) -> None:
    await start(stage)
    await stage.decide(DecisionVerdict.EDIT, edited=json.dumps({"url": "https://api.coingecko.com/other"}))
    await stage.run()
    await stage.decide()
    await stage.run()
    assert (stage.execution.status, [ticket.seq for ticket in stage.sent]) == (Status.COMPLETED, [1])
    result = stage.results[0]
    assert (result.blocked, result.block_reason) == (True, "edited")
    assert result.content == (
        "A person changed the arguments of this call before it was made, and this is the result of the changed call. "
        '{"url": "https://api.coingecko.com/other"}\nanswer 1'
    )
    assert result.content[result.parts[1].start : result.parts[1].end] == "answer 1"


async def test_an_edit_that_nobody_signed_changes_nothing(stage: WaitingStage) -> None:
    await start(stage)
    await stage.decide(DecisionVerdict.EDIT, edited="{}", signed=False)
    await stage.run()
    assert (list(stage.memory.tickets["e"]), stage.sent) == ([0], [])
    assert any(event == "approval.forged" for event, _ in stage.log.lines)


async def test_calls_of_the_turn_before_the_one_that_waits_are_not_made_again(stage: WaitingStage) -> None:
    await stage.run(says("", POST, *[("http_get", {"url": "https://api.coingecko.com/0"})]), says("Done."))
    assert [ticket.seq for ticket in stage.sent] == [0]
    await stage.decide()
    await stage.run()
    assert ([ticket.seq for ticket in stage.sent], stage.execution.status) == ([0, 1], Status.COMPLETED)


async def test_the_receipt_of_an_approved_call_says_who_approved_what(stage: WaitingStage) -> None:
    await start(stage)
    approval = stage.pending[0]
    await stage.decide()
    await stage.run()
    entries = [entry for group in stage.memory.receipts["e"].values() for entry in group]
    members = next(entry.members for entry in entries if entry.kind == "settled")
    assert {name: members[name] for name in ("approval", "digest", "approved_by")} == {
        "approval": approval.id,
        "digest": approval.digest,
        "approved_by": "pat",
    }


async def test_the_receipt_has_the_hash_of_the_value_that_was_declassified(stage: WaitingStage) -> None:
    await start(stage)
    await stage.decide(declassified="ch_12345678")
    await stage.run()
    entries = [entry for group in stage.memory.receipts["e"].values() for entry in group]
    members = next(entry.members for entry in entries if entry.kind == "settled")
    assert members["declassified"] == hashlib.sha256(b"ch_12345678").hexdigest()


async def test_an_execution_that_nobody_was_asked_about_withdraws_nothing(stage: WaitingStage) -> None:
    stage.asks = ()
    await start(stage)
    assert (stage.execution.status, stage.memory.approvals) == (Status.COMPLETED, {})


def chat(stage: WaitingStage) -> None:
    """Make the execution answer a message of a conversation."""
    stage.start(conversation="conv", question=1, answer=2)
    content = Message(conversation="conv", number=1, parent=0, role=Speaker.USER, at=stage.clock.now(), content="Look.")
    stage.memory.messages["conv"] = {1: content}


async def test_calls_beside_one_that_waits_are_made_once_and_their_results_are_kept(stage: WaitingStage) -> None:
    chat(stage)
    stage.numbers = (1,)
    await stage.run(fetches(4), says("Done."))
    assert sorted(ticket.seq for ticket in stage.sent) == [0, 2, 3]
    assert [ticket.state for ticket in stage.memory.tickets["e"].values()] == [
        *(TicketState.SETTLED, TicketState.WAITING, TicketState.SETTLED, TicketState.SETTLED),
    ]
    await stage.decide()
    await stage.run()
    assert sorted(ticket.seq for ticket in stage.sent) == [0, 1, 2, 3]
    assert [result.content for result in stage.results] == [f"answer {seq}" for seq in range(4)]
    assert stage.execution.status is Status.COMPLETED


class FailingAlerts(MemoryAlertQueue):
    """A queue of alerts that does not take the one with the number `fails`."""

    def __init__(self, fails: int) -> None:
        super().__init__()
        self._fails = fails

    async def enqueue(self, alert: str, *, attempt: int = 0, after: timedelta = timedelta(0), wake_up: str = "") -> None:
        self._fails -= 1
        if self._fails == -1:
            raise UnavailableError("the queue does not answer")
        await super().enqueue(alert, attempt=attempt, after=after, wake_up=wake_up)


@pytest.mark.parametrize("fails", range(6))
async def test_a_notice_that_was_not_enqueued_is_enqueued_by_the_next_delivery_once(stage: WaitingStage, fails: int) -> None:
    chat(stage)
    stage.alerts = FailingAlerts(fails)
    assert not await stage.run(fetches(3), says("Done."))
    assert stage.execution.lease is not None
    stage.clock.turn(stage.execution.lease.expires_at - stage.clock.now())
    assert await deliver(stage.deps(), "e", slice=0, holder="h")
    named = sorted((alert.alert, alert.wake_up) for alert in stage.alerts.waiting)
    assert named == sorted((approval.id, wake_up) for approval in stage.pending for wake_up in ("", "overdue"))


async def test_of_calls_that_wait_beside_each_other_the_one_that_is_decided_is_made(stage: WaitingStage) -> None:
    chat(stage)
    await stage.run(fetches(3), says("Done."))
    assert len(stage.pending) == 3
    await stage.decide(which=2)
    await stage.run()
    assert [ticket.seq for ticket in stage.sent] == [2]
    assert stage.execution.waiting_for == stage.pending[0].id
    for _ in range(2):
        await stage.decide()
        await stage.run()
    assert (sorted(ticket.seq for ticket in stage.sent), stage.execution.status) == ([0, 1, 2], Status.COMPLETED)


async def test_the_credits_of_calls_beside_one_that_waits_stay_reserved(stage: WaitingStage) -> None:
    chat(stage)
    stage.numbers = (0,)
    stage.on_call = lambda ticket: stage.answer(ticket) if ticket.seq == 0 else replace(stage.send(ticket), credential_used="K")
    await stage.run(fetches(3), says("Done."))
    fees = sum(get_fee(result) for result in stage.results if result is not None)
    assert reserved(stage) >= stage.execution.credits_used + fees

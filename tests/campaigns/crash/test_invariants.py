"""The invariants can be broken: stores that break one rule each, and what is found of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from ferryman.domain.calls.call import TicketState, ToolCallResult
from ferryman.domain.credits.balance import CreditBalance
from ferryman.domain.executions.context import ExecutionContext
from ferryman.domain.executions.execution import Execution, Lease
from ferryman.domain.receipts.receipt import Receipt
from ferryman.inmemory.contexts import MemoryContexts
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.ports.contexts import ContextDocuments
from ferryman.ports.executions import ExecutionEnding, TurnCommit
from ferryman.ports.tickets import CallRequest, ClaimedCall
from tests.campaigns.crash.fixtures import Ports
from tests.campaigns.crash.invariants import find_broken
from tests.campaigns.crash.points import targets
from tests.campaigns.crash.scenarios import SCENARIOS, Scenario, limit_calls
from tests.campaigns.crash.simulated import SimulatedRun, memory_ports

UNKEYED, KEYED, CANCEL, LIMITED, TALK, FULL_TALK = (
    next(scenario for scenario in SCENARIOS if scenario.name == name)
    for name in ("unkeyed", "keyed", "cancel", "limited calls", "conversation", "full conversation")
)


class ForgettingTickets(MemoryTickets):
    """A call that was sent is executed again as if it were new."""

    async def claim(self, call_request: CallRequest, *, tool: str, now: datetime) -> ClaimedCall:
        tickets = self._memory.tickets[call_request.execution]
        tickets[call_request.seq] = replace(tickets[call_request.seq], state=TicketState.INTENDED, deadline=None)
        return await super().claim(call_request, tool=tool, now=now)


class UnfencedExecutions(MemoryExecutions):
    """A process that held the execution once may write over it for ever, and takes it from any other."""

    async def claim(self, execution: str, *, now: datetime, **claim: Any) -> tuple[Execution, bool]:
        current = self._memory.executions[execution]
        if current.lease is not None:
            self._put(replace(current, lease=replace(current.lease, expires_at=now)))
        return await super().claim(execution, now=now, **claim)

    def _check_fence(self, execution: Execution, now: datetime) -> tuple[Execution, Lease]:
        current = self._memory.executions[execution.id]
        assert current.lease is not None
        return current, current.lease

    def _add_receipts(self, execution: str, receipts: tuple[Receipt, ...]) -> None:
        # a chain that cannot fork would be a second fence
        self._memory.receipts.setdefault(execution, {}).update({receipt.number: (receipt,) for receipt in receipts})


class GreedyExecutions(MemoryExecutions):
    """Every turn is charged twice."""

    async def commit(self, execution: Execution, turn: TurnCommit, *, now: datetime, lease: timedelta) -> Execution:
        charged = replace(execution, credits_used=execution.credits_used + turn.step.credits)
        return await super().commit(charged, turn, now=now, lease=lease)


class KeepingExecutions(MemoryExecutions):
    """What was reserved is not given back."""

    async def finish(self, execution: Execution, ending: ExecutionEnding, *, now: datetime) -> bool:
        return await super().finish(execution, replace(ending, entry=None), now=now)


class SilentExecutions(MemoryExecutions):
    """The audit list loses its last row."""

    async def finish(self, execution: Execution, ending: ExecutionEnding, *, now: datetime) -> bool:
        return await super().finish(replace(execution, tool_calls=execution.tool_calls[:-1]), ending, now=now)


class StubbornExecutions(MemoryExecutions):
    """A lease never ends: what its holder leaves behind stays there."""

    async def claim(self, execution: str, **claim: Any) -> tuple[Execution, bool]:
        return await super().claim(execution, **{**claim, "lease": timedelta(days=365)})


class HeedlessContexts(MemoryContexts):
    """What an agent limits is not read."""

    async def read(self, context: ExecutionContext) -> ContextDocuments:
        documents = await super().read(context)
        assert documents.agent is not None
        return replace(documents, agent=replace(documents.agent, tool_settings={}, conversation_credits_max=None))


class ForgetfulExecutions(MemoryExecutions):
    """What a conversation has used before is not known to its next execution."""

    def _read_balance(self, execution: Execution, now: datetime) -> CreditBalance:
        return super()._read_balance(replace(execution, conversation=""), now)


class HushingTickets(MemoryTickets):
    """That a call is in doubt is kept from the owner."""

    async def settle(self, claimed_call: ClaimedCall, result: ToolCallResult, *, now: datetime, in_doubt: bool = False) -> None:
        await super().settle(claimed_call, result, now=now)


async def is_found(*rules: str, scenario: Scenario, **kinds: type) -> bool:
    """Say whether all these rules are found broken on these ports, at points of a scenario up to the first where they are."""

    def ports() -> Ports:
        memory = Memory()
        return replace(memory_ports(memory), **{name: kind(memory) for name, kind in kinds.items()})

    whole = SimulatedRun(scenario=scenario, ports=ports())
    missing = set(rules) - list_rules(find_broken(await whole.perform()))
    for number, (point, way) in enumerate(targets(whole.passed)):
        if not missing:
            break
        run = SimulatedRun(scenario=scenario, ports=ports(), target=point, way=way)
        missing -= list_rules(find_broken(await run.perform(together=2, impatient=number % 2 == 0)))
    return not missing


def list_rules(findings: Iterable[str]) -> set[str]:
    """Return the first words of findings: the rules that are broken."""
    return {finding.partition(":")[0] for finding in findings}


@pytest.mark.parametrize(
    ("rules", "scenario", "kinds"),
    [
        (("doubled",), UNKEYED, {"tickets": ForgettingTickets}),
        (("charged",), UNKEYED, {"executions": UnfencedExecutions}),
        (("charged",), UNKEYED, {"executions": GreedyExecutions}),
        (("ledger", "balance"), UNKEYED, {"executions": KeepingExecutions}),
        (("audit",), UNKEYED, {"executions": SilentExecutions}),
        (("lost",), UNKEYED, {"executions": StubbornExecutions}),
        (("lost",), UNKEYED, {"tickets": HushingTickets}),
        (("receipts",), UNKEYED, {"tickets": HushingTickets}),
        (("beyond",), LIMITED, {"contexts": HeedlessContexts}),
        (("lost",), FULL_TALK, {"contexts": HeedlessContexts}),
        (("balance",), TALK, {"executions": ForgetfulExecutions}),
    ],
    ids=[
        "a call that is sent again",
        "writes that are not fenced",
        "a turn that is charged twice",
        "a reservation that is not released",
        "a missing audit row",
        "an execution that never ends",
        "a doubt that is hidden",
        "a record that differs from the signed one",
        "a call beyond the agent's limit",
        "an execution beyond the limit of its conversation",
        "a conversation whose use is forgotten",
    ],
)
async def test_a_broken_rule_is_found(rules: tuple[str, ...], scenario: Scenario, kinds: dict[str, type]) -> None:
    assert await is_found(*rules, scenario=scenario, **kinds)


@pytest.mark.parametrize(("most", "rule"), [(1, "beyond"), (3, "counted")])
async def test_a_call_on_the_wrong_side_of_the_limit_is_found(most: int, rule: str) -> None:
    outcome = await SimulatedRun(scenario=LIMITED, ports=memory_ports(Memory())).perform()
    other = replace(LIMITED, tool_settings={**LIMITED.tool_settings, **limit_calls(api_call=most)})
    assert list_rules(find_broken(replace(outcome, scenario=other))) == {rule}


async def test_a_record_that_is_another_than_was_signed_is_found() -> None:
    run = SimulatedRun(scenario=KEYED, ports=memory_ports(Memory()))
    outcome = await run.perform()
    tickets = [replace(outcome.tickets[0], attempt=outcome.tickets[0].attempt + 1), *outcome.tickets[1:]]
    assert find_broken(replace(outcome, tickets=tickets)) == ["receipts: calls/0 is not covered as it is"]


async def test_a_key_that_changes_is_found() -> None:
    run = SimulatedRun(scenario=KEYED, ports=memory_ports(Memory()))
    outcome = await run.perform()
    other = replace(outcome.effects[0], key="another")
    assert list_rules(find_broken(replace(outcome, effects=[*outcome.effects, other]))) == {"doubled"}


async def test_a_credit_that_is_not_in_the_ledger_is_found() -> None:
    run = SimulatedRun(scenario=CANCEL, ports=memory_ports(Memory()))
    outcome = await run.perform()
    short = replace(outcome.execution, credits_used=outcome.execution.credits_used - Decimal("0.001"))
    assert {"charged", "ledger", "balance"} <= list_rules(find_broken(replace(outcome, execution=short)))

"""The bars can be missed: houses that break one rule each, and what is found of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from ferryman.domain.call import TicketState, ToolCallResult
from ferryman.domain.execution import Execution
from ferryman.domain.receipt import Receipt
from ferryman.local.executions import MemoryExecutions
from ferryman.local.memory import Memory
from ferryman.local.tickets import MemoryTickets
from ferryman.ports import Ending, Errand, Summons, Turn
from tests.crash.bars import broken
from tests.crash.ground import Ports
from tests.crash.points import targets
from tests.crash.simulated import Play, memory_ports
from tests.crash.stories import STORIES, Story

UNKEYED, KEYED, CANCEL = (next(story for story in STORIES if story.name == name) for name in ("unkeyed", "keyed", "cancel"))


class ForgettingTickets(MemoryTickets):
    """A call that was sent is carried again as if it were new."""

    async def claim(self, summons: Summons, *, tool: str, now: datetime) -> Errand:
        tickets = self._memory.tickets[summons.execution]
        tickets[summons.seq] = replace(tickets[summons.seq], state=TicketState.INTENDED, deadline=None)
        return await super().claim(summons, tool=tool, now=now)


class UnfencedExecutions(MemoryExecutions):
    """Whoever held the execution once may write over it for ever, and takes it from whom it likes."""

    async def claim(
        self,
        execution: str,
        *,
        slice: int,
        holder: str,
        now: datetime,
        lease: timedelta,
    ) -> tuple[Execution, bool]:
        current = self._memory.executions[execution]
        if current.lease is not None:
            self._keep(current, lease=replace(current.lease, expires_at=now))
        return await super().claim(execution, slice=slice, holder=holder, now=now, lease=lease)

    def _fenced(self, held: Execution, now: datetime):
        current = self._memory.executions[held.id]
        assert current.lease is not None
        return current, current.lease

    def _sign(self, execution: str, receipts: tuple[Receipt, ...]) -> None:
        # a chain that cannot fork would be a second fence
        self._memory.receipts.setdefault(execution, {}).update({receipt.number: (receipt,) for receipt in receipts})


class GreedyExecutions(MemoryExecutions):
    """Every turn is charged twice."""

    async def commit(self, execution: Execution, turn: Turn, *, now: datetime, lease: timedelta) -> Execution:
        charged = replace(execution, credits_used=execution.credits_used + turn.step.credits)
        return await super().commit(charged, turn, now=now, lease=lease)


class KeepingExecutions(MemoryExecutions):
    """What was reserved is not given back."""

    async def finish(self, execution: Execution, ending: Ending, *, now: datetime) -> None:
        await super().finish(execution, replace(ending, entry=None), now=now)


class SilentExecutions(MemoryExecutions):
    """The audit list loses its last row."""

    async def finish(self, execution: Execution, ending: Ending, *, now: datetime) -> None:
        await super().finish(replace(execution, tool_calls=execution.tool_calls[:-1]), ending, now=now)


class StubbornExecutions(MemoryExecutions):
    """A lease never ends: what its holder leaves behind stays there."""

    async def claim(
        self,
        execution: str,
        *,
        slice: int,
        holder: str,
        now: datetime,
        lease: timedelta,
    ) -> tuple[Execution, bool]:
        return await super().claim(execution, slice=slice, holder=holder, now=now, lease=timedelta(days=365))


class HushingTickets(MemoryTickets):
    """That a call is in doubt is kept from the owner."""

    async def settle(self, errand: Errand, result: ToolCallResult, *, now: datetime, in_doubt: bool = False) -> None:
        await super().settle(errand, result, now=now)


async def rules_broken(story: Story, **kinds: type) -> set[str]:
    """The first words of what is found over all points of a story, in a house with these ports."""

    def doors() -> Ports:
        memory = Memory()
        return replace(memory_ports(memory), **{name: kind(memory) for name, kind in kinds.items()})

    whole = Play(story=story, doors=doors())
    found: list[str] = broken(await whole.perform())
    for number, (point, way) in enumerate(targets(whole.passed)):
        play = Play(story=story, doors=doors(), target=point, way=way)
        found += broken(await play.perform(together=2, impatient=number % 2 == 0))
    return set(_words(found))


def _words(found: Iterable[str]) -> Iterable[str]:
    return (each.partition(":")[0] for each in found)


async def test_a_call_that_is_sent_again_is_found() -> None:
    assert "doubled" in await rules_broken(UNKEYED, tickets=ForgettingTickets)


async def test_writes_that_are_not_fenced_are_found() -> None:
    assert await rules_broken(UNKEYED, executions=UnfencedExecutions)


async def test_a_turn_that_is_charged_twice_is_found() -> None:
    assert "charged" in await rules_broken(UNKEYED, executions=GreedyExecutions)


async def test_a_reservation_that_is_kept_is_found() -> None:
    assert {"ledger", "purse"} <= await rules_broken(UNKEYED, executions=KeepingExecutions)


async def test_a_missing_audit_row_is_found() -> None:
    assert "audit" in await rules_broken(UNKEYED, executions=SilentExecutions)


async def test_an_execution_that_never_ends_is_found() -> None:
    assert "lost" in await rules_broken(UNKEYED, executions=StubbornExecutions)


async def test_a_doubt_that_is_hidden_is_found() -> None:
    assert "lost" in await rules_broken(UNKEYED, tickets=HushingTickets)


async def test_a_key_that_changes_is_found() -> None:
    play = Play(story=KEYED, doors=memory_ports(Memory()))
    left = await play.perform()
    other = replace(left.effects[0], key="another")
    assert set(_words(broken(replace(left, effects=[*left.effects, other])))) == {"doubled"}


async def test_a_credit_that_is_not_in_the_ledger_is_found() -> None:
    play = Play(story=CANCEL, doors=memory_ports(Memory()))
    left = await play.perform()
    short = replace(left.execution, credits_used=left.execution.credits_used - Decimal("0.001"))
    assert {"charged", "ledger", "purse"} <= set(_words(broken(replace(left, execution=short))))

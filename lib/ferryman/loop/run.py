"""A delivery: the queue hands over an execution, and this carries it on until it ends, hands over, or is somebody else's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from ferryman.domain.execution import Execution
from ferryman.loop import calls, ending, opening, spans, turn
from ferryman.loop.house import House
from ferryman.loop.journal import Run, rebuild
from ferryman.loop.later import Later
from ferryman.ports import Ending, Rejected, Stale, Unavailable


async def deliver(house: House, execution: str, *, slice: int, holder: str) -> bool:
    """Run `execution` as far as it goes. True when the queue may forget this delivery, False when it should come again."""
    now = house.clock.now()
    try:
        claimed, is_ours = await house.executions.claim(execution, slice=slice, holder=holder, now=now, lease=house.lease)
        if not is_ours:
            return await _not_ours(house, claimed, slice)
    except KeyError:
        house.line("delivery.unknown", execution=execution)
        return True
    except Unavailable as pause:
        house.line("delivery.paused", execution=execution, reason=str(pause))
        return False
    with spans.agent(house, claimed):
        forgotten = await _run(house, claimed, until=now + house.slice)
        ran_s = (house.clock.now() - now).total_seconds()
        house.line("delivery.ended", execution=execution, slice=slice, ran_s=ran_s, again=not forgotten)
        return forgotten


async def _run(house: House, claimed: Execution, *, until: datetime) -> bool:
    execution = claimed.id
    run = Delivery(house=house, execution=claimed, until=until)
    try:
        async with _heartbeat(house, claimed):
            await run.carry()
    except Stale:
        house.line("lease.lost", execution=execution, severity="WARNING")
        return False
    except Later as later:
        return await _handed_over(house, run.standing, str(later), after=later.after)
    except Unavailable as pause:
        if pause.after_s is not None:
            return await _handed_over(house, run.standing, str(pause), after=timedelta(seconds=pause.after_s))
        house.line("delivery.paused", execution=execution, reason=str(pause))
        await _give_up_lease(house, run.standing)
        return False
    return True


async def _not_ours(house: House, execution: Execution, slice: int) -> bool:
    if execution.status.terminal:
        return True
    if slice < execution.slice:
        # whoever handed over may have died before the next slice was in the queue; a cancel does not wait for its time
        await house.queue.enqueue(execution.id, slice=execution.slice, nudge="cancel" if execution.cancel_requested else "")
        return True
    return False


class Delivery:
    """One delivery under way: the execution as it stands, and until when it may go on."""

    def __init__(self, *, house: House, execution: Execution, until: datetime) -> None:
        self._house = house
        self._claimed = execution
        self._until = until
        self._run: Run | None = None

    @property
    def standing(self) -> Execution:
        """The execution as its holder has it."""
        return self._run.execution if self._run else self._claimed

    async def carry(self) -> None:
        """To its end. Raises `Stale`, `Later` or `Unavailable` where it cannot be brought there now."""
        house = self._house
        try:
            self._run = await self._rebuilt()
            final = await self._turns(self._run)
        except (Stale, Later, Unavailable):
            raise
        except opening.Unfit as unfit:
            final = ending.failed(None, str(unfit))
        except calls.Cancelled as cancelled:
            final = await ending.cancelled(house, self._run, cancelled)
        except turn.Exhausted:
            final = ending.exhausted(self._run)
        except Rejected as rejected:
            final = await ending.broken_off(house, self._run, str(rejected))
        except Exception as fault:  # noqa: BLE001 - a fault of ours ends the execution; it must not come back for ever
            house.line("execution.fault", execution=self._claimed.id, kind=type(fault).__name__, severity="ERROR")
            final = await ending.broken_off(house, self._run, ending.FAULT)
        await ending.finish(house, self.standing, self._run, final)

    async def _rebuilt(self) -> Run:
        house, execution = self._house, self._claimed
        opened = await house.executions.opening(execution.id)
        if opened is None:
            if ending.overdue(house, execution):
                raise opening.Unfit(ending.too_long(house))
            execution, opened = await opening.begin(house, execution)
            return rebuild(execution, opened, (), ())
        steps = await house.executions.steps(execution.id)
        tickets = await house.executions.tickets(execution.id)
        return rebuild(execution, opened, steps, tickets)

    async def _turns(self, run: Run) -> Ending:
        house = self._house
        while run.last is None or run.last.calls:
            if ending.overdue(house, run.execution):
                await calls.withdraw(house, run)
                return ending.timeout(house, run)
            if house.clock.now() >= self._until:
                raise Later("the slice is over")
            if run.pending:
                await calls.answer(house, run)
            else:
                await turn.take(house, run)
        return ending.answer(run)


async def _handed_over(house: House, execution: Execution, reason: str, *, after: timedelta) -> bool:
    """Give the execution to its next slice, `after` so long, but not past its end. Nothing is held meanwhile."""
    now = house.clock.now()
    left = timedelta.max if execution.started_at is None else execution.started_at + house.patience - now
    if left > timedelta(0):
        after = min(after, left + timedelta(seconds=1) if left < timedelta.max else left)
    try:
        following = await house.executions.hand_over(execution, now=now)
        await house.queue.enqueue(execution.id, slice=following, after=after)
    except (Stale, Unavailable) as fault:
        house.line("delivery.paused", execution=execution.id, reason=str(fault))
        return False  # the delivery comes again, and finds the slice it is to put into the queue
    house.line("slice.over", execution=execution.id, slice=following, after_s=after.total_seconds(), reason=reason)
    return True


async def _give_up_lease(house: House, execution: Execution) -> None:
    try:
        await house.executions.give_up(execution, now=house.clock.now())
    except (Stale, Unavailable):
        return  # it runs out by itself


@asynccontextmanager
async def _heartbeat(house: House, execution: Execution) -> AsyncIterator[None]:
    """Keep the lease while the model or a tool takes its time; a lost lease shows at the next write."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(house.lease.total_seconds() / 3)
            try:
                await house.executions.renew(execution, now=house.clock.now(), lease=house.lease)
            except Stale:
                return
            except Exception as fault:  # noqa: BLE001 - the next beat tries again; a lease lost meanwhile fences the rest
                house.line("lease.beat_failed", execution=execution.id, kind=type(fault).__name__, severity="WARNING")

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)

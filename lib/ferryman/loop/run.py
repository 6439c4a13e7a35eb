"""One delivery of an execution: claim its lease, run it until it ends or its slice is over, and hand over.

A lease with a fencing token (the epoch) lets one delivery at a time write; the writes of any other are rejected as stale.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from ferryman.answer_order import wake_next_answer
from ferryman.domain.executions.execution import STOPPED, Execution
from ferryman.domain.executions.occupancy import (
    START_SPACING,
    AnswerNotNextError,
    NoFreeSlotError,
    compute_answer_pause,
    compute_pause,
)
from ferryman.domain.executions.postponement import Postponement
from ferryman.domain.executions.waiting import measure_waited
from ferryman.domain.metering.rounds import find_round
from ferryman.domain.stale import StaleError
from ferryman.loop import admission, alerting, calls, endings, money, parallel, parking, setup, spans, titles, turn
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.journal import Run, rebuild
from ferryman.loop.start import BudgetReachedError, StartRejectedError
from ferryman.ports.errors import NotAdmittedError, RejectedError, UnavailableError
from ferryman.ports.executions import ExecutionEnding
from ferryman.ports.live import Audience

HOLDER_MIN = timedelta(seconds=1)
"""How long a holder is waited for at least."""

BEATS_PER_LEASE = 3
"""How often a lease is renewed before it would expire."""


async def deliver(
    deps: LoopDependencies, execution: str, *, slice: int, holder: str, waits: int = 0, audience: Audience | None = None
) -> bool:
    """Run `execution` as far as it goes. Return whether the queue may drop this delivery; False has it delivered again.

    An `audience` is shown what the model writes as it writes it; once it has left, the next slice goes on from the commit
    that follows.

    `waits` is how often it was put back already, because its owner had as many executions running as the plan allows.
    """
    now = deps.clock.now()
    try:
        try:
            claimed, is_ours = await deps.executions.claim(execution, slice=slice, holder=holder, now=now, lease=deps.lease)
        except NotAdmittedError:
            if not await admission.admit_request(deps, execution):
                return True
            claimed, is_ours = await deps.executions.claim(execution, slice=slice, holder=holder, now=now, lease=deps.lease)
        if not is_ours:
            return await _skip(deps, claimed, slice, waits)
    except NoFreeSlotError as full:
        return await _put_back(deps, full, slice, waits)
    except KeyError:
        deps.log("delivery.unknown", execution=execution)
        return True
    except UnavailableError as error:
        deps.log("delivery.paused", execution=execution, reason=str(error))
        return False
    with spans.open_agent_span(deps, claimed):
        is_done = await _run_claimed(deps, claimed, until=now + deps.slice, audience=audience)
        await _wake_next(deps, claimed.owner)
        await wake_next_answer(deps.conversations, deps.queue, deps.tracer, claimed)
        await _roll_up(deps, claimed.workspace)
        ran_s = (deps.clock.now() - now).total_seconds()
        deps.log("delivery.ended", execution=execution, slice=slice, ran_s=ran_s, again=not is_done)
        return is_done


async def _run_claimed(deps: LoopDependencies, claimed: Execution, *, until: datetime, audience: Audience | None) -> bool:
    runner = SliceRunner(deps=deps, execution=claimed, until=until, audience=audience)
    try:
        async with _heartbeat(deps, claimed):
            postponement = await runner.run()
    except StaleError:
        deps.log("lease.lost", execution=claimed.id, severity="WARNING")
        return False
    except UnavailableError as error:
        if error.after_s is not None:
            postponement = Postponement(reason=str(error), after=timedelta(seconds=error.after_s))
            return await _hand_over(deps, runner.execution, postponement)
        deps.log("delivery.paused", execution=claimed.id, reason=str(error))
        await _give_up_lease(deps, runner.execution)
        return False
    if postponement is not None and postponement.waiting_for:
        return await _park(deps, runner, postponement.waiting_for)
    return postponement is None or await _hand_over(deps, runner.execution, postponement)


async def _skip(deps: LoopDependencies, execution: Execution, slice: int, waits: int) -> bool:
    """Return whether the queue may drop a delivery whose execution is held by another, or has ended."""
    if execution.status.terminal:
        # the delivery that ended it may have died before its alerts were enqueued, or its title was started
        await alerting.enqueue_alerts(deps, execution, await deps.executions.list_unsent_alerts(execution.id))
        await titles.start_title(deps, execution)
        await _roll_up(deps, execution.workspace)
        return True
    if slice < execution.slice:
        # the delivery that handed over may have died before the next slice was enqueued; a cancel does not wait for its time
        if execution.waiting_for and not execution.cancel_requested:
            await parking.enqueue_wake_up(deps, execution.id, execution.waiting_for, slice=execution.slice)
            return True
        await deps.queue.enqueue(execution.id, slice=execution.slice, wake_up="cancel" if execution.cancel_requested else "")
        return True
    return await _wait_for_holder(deps, execution, slice, waits) if execution.answer else False


async def _wait_for_holder(deps: LoopDependencies, execution: Execution, slice: int, waits: int) -> bool:
    """Enqueue the delivery of an answer again, for when its holder's lease ends unless it is renewed. Return whether it was.

    An answer that is relayed is always delivered twice. To fail the second one each time would slow the queue down.
    """
    assert execution.lease is not None, "somebody holds it"
    after = max(HOLDER_MIN, execution.lease.expires_at - deps.clock.now())
    try:
        await deps.queue.enqueue(execution.id, slice=slice, after=after, wake_up="held", waits=waits + 1)
    except UnavailableError as error:
        deps.log("delivery.paused", execution=execution.id, reason=str(error))
        return False
    return True


async def _put_back(deps: LoopDependencies, full: NoFreeSlotError, slice: int, waits: int) -> bool:
    """Enqueue this delivery again for later (backpressure). Return whether the present one may be dropped.

    A failed delivery (429 or 503) would slow the whole Cloud Tasks queue down, with the deliveries of every other owner.
    """
    execution = full.execution
    if isinstance(full, AnswerNotNextError):
        after = compute_answer_pause(execution, waits=waits)
    else:
        after = compute_pause(execution, queued=full.queued, waits=waits)
    try:
        await deps.queue.enqueue(execution.id, slice=slice, after=after, waits=waits + 1)
    except UnavailableError as error:
        deps.log("delivery.paused", execution=execution.id, reason=str(error))
        return False
    deps.log("delivery.put_back", execution=execution.id, slice=slice, after_s=after.total_seconds(), waits=waits)
    return True


async def _wake_next(deps: LoopDependencies, owner: str) -> None:
    """Deliver the owner's executions that wait for the slot that was just freed; where that fails, their time comes anyway."""
    try:
        for number, name in enumerate(await deps.executions.next_queued(owner, now=deps.clock.now())):
            await deps.queue.enqueue(name, slice=0, after=START_SPACING * number, wake_up="slot")
    except UnavailableError as error:
        deps.log("slot.not_passed_on", owner=owner, reason=str(error), severity="WARNING")


async def _roll_up(deps: LoopDependencies, workspace: str) -> None:
    """Have what this delivery used rolled up, with what others of the workspace used in these seconds.

    Where that fails, the next delivery in the workspace has it done, or the sweep.
    """
    number, after = find_round(deps.clock.now())
    try:
        await deps.metering.enqueue(workspace, number=number, after=after)
    except UnavailableError as error:
        deps.log("usage.not_enqueued", workspace=workspace, reason=str(error), severity="WARNING")


class SliceRunner:
    """One delivery under way: the execution in its present state, until when this slice may run, and who watches it."""

    def __init__(
        self, *, deps: LoopDependencies, execution: Execution, until: datetime, audience: Audience | None = None
    ) -> None:
        self._deps = deps
        self._claimed = execution
        self._until = until
        self._audience = audience
        self._run: Run | None = None

    @property
    def execution(self) -> Execution:
        """The execution as its lease holder has it."""
        return self._run.execution if self._run else self._claimed

    def get_run(self) -> Run:
        """Return the run of an execution that has been set up."""
        assert self._run is not None, "it was rebuilt"
        return self._run

    async def run(self) -> Postponement | None:
        """Run the execution to its end, or return the postponement of the rest. Raise `StaleError` or `UnavailableError`."""
        outcome = await self._run_to_ending()
        if isinstance(outcome, Postponement):
            return outcome
        await endings.finish(self._deps, self.execution, self._run, outcome)
        await titles.start_title(self._deps, self.execution)
        return None

    async def _run_to_ending(self) -> ExecutionEnding | Postponement:
        deps = self._deps
        try:
            # a few at a time for an owner: what is started together would slow everybody else's executions down for a second
            async with deps.setups.turn(self._claimed.owner):
                self._run = await self._rebuild()
            if self._audience is not None:
                self._audience.note_commit(self._run.execution.events)
            outcome = await self._go_on(self._run)
            if isinstance(outcome, Postponement):
                # who was cancelled or halted does not wait for a time to come first
                await calls.check_stopped(deps, self._run)
            return outcome
        except (StaleError, UnavailableError):
            raise
        except BudgetReachedError as reached:
            return await endings.run_short(deps, self._claimed, self._run, reached)
        except StartRejectedError as rejected:
            return endings.build_failure(None, str(rejected))
        except calls.ExecutionCancelledError as cancelled:
            return await endings.cancel(deps, self._run, cancelled)
        except money.CreditsExhaustedError as exhausted:
            return await self._end_short(exhausted)
        except RejectedError as rejected:
            return await endings.abort(deps, self._run, str(rejected))
        except Exception as fault:  # noqa: BLE001 - an internal fault ends the execution; it must not be retried for ever
            deps.log("execution.fault", execution=self._claimed.id, kind=type(fault).__name__, severity="ERROR")
            return await endings.abort(deps, self._run, endings.FAULT)

    async def _end_short(self, exhausted: money.CreditsExhaustedError) -> ExecutionEnding | Postponement:
        """Return the ending without credits. A cancel or a halt comes first: what it broke off may have cost what was left."""
        if self._run is not None:
            try:
                await calls.check_stopped(self._deps, self._run)
            except calls.ExecutionCancelledError as cancelled:
                return await endings.cancel(self._deps, self._run, cancelled)
        return endings.build_shortage(self._claimed, self._run, exhausted)

    async def _go_on(self, run: Run) -> ExecutionEnding | Postponement:
        if run.execution.waiting_for:
            if (postponement := await parking.find_wait(self._deps, run)) is not None:
                return postponement
            await calls.check_stopped(self._deps, run)
            await parking.resume(self._deps, run)
        return await self._take_turns(run)

    async def _rebuild(self) -> Run:
        deps, execution = self._deps, self._claimed
        opening = await deps.executions.opening(execution.id)
        if opening is None:
            if execution.cancel_requested:
                # before it begins, which may wait for a job that waits for the end
                raise calls.ExecutionCancelledError("cancelled")
            if endings.is_overdue(deps, execution):
                raise StartRejectedError(endings.describe_timeout(deps))
            execution, opening, declared = await setup.begin(deps, execution)
            run = rebuild(execution, opening, (), ())
            run.flow.declared = {tool.name: tool for tool in declared}
            run.apply_commit(execution, credits_held=money.NOTHING)
            return run
        if execution.answer:
            # what a delivery that died has left: no scan of a whole turn has passed it
            await deps.executions.show(execution, None, now=deps.clock.now())
        steps = await deps.executions.steps(execution.id)
        tickets = await deps.executions.tickets(execution.id)
        run = rebuild(execution, opening, steps, tickets)
        if execution.pending_model_calls:
            money.resume_reservation(deps, run)
        return run

    async def _take_turns(self, run: Run) -> ExecutionEnding | Postponement:
        deps = self._deps
        while not run.is_answered:
            if endings.is_overdue(deps, run.execution):
                return await calls.withdraw(deps, run) or endings.build_timeout(deps, run)
            if deps.clock.now() >= self._until:
                return Postponement(reason="the slice is over")
            if self._audience is not None and self._audience.has_left:
                return Postponement(reason="nobody reads this stream any longer")
            if not run.pending:
                if (postponement := calls.wait_for_rate(deps, run)) is not None:
                    return postponement
                await turn.take(deps, run, self._audience)
            elif (postponement := await parallel.execute_pending(deps, run)) is not None:
                return postponement
        if run.last is not None and run.last.stop_reason == STOPPED:
            raise calls.ExecutionCancelledError("cancelled")
        return endings.build_answer(run)


async def _hand_over(deps: LoopDependencies, execution: Execution, postponement: Postponement) -> bool:
    """Give the execution to its next slice, enqueued for the postponement's time but not past the execution's end."""
    now = deps.clock.now()
    after = max(timedelta(0), postponement.after)
    if execution.started_at is not None:
        remaining = execution.started_at + measure_waited(execution, now) + deps.execution_timeout - now
        if remaining > timedelta(0):
            after = min(after, remaining + timedelta(seconds=1))
    try:
        following = await deps.executions.hand_over(execution, now=now)
        await deps.queue.enqueue(execution.id, slice=following, after=after)
    except (StaleError, UnavailableError) as error:
        deps.log("delivery.paused", execution=execution.id, reason=str(error))
        return False  # the delivery comes again, and enqueues the slice that it finds in the record
    reason = postponement.reason
    deps.log("slice.over", execution=execution.id, slice=following, after_s=after.total_seconds(), reason=reason)
    return True


async def _park(deps: LoopDependencies, runner: SliceRunner, approval: str) -> bool:
    """Park the execution until a person has decided. Return whether the delivery may be dropped."""
    run = runner.get_run()
    try:
        await parking.park(deps, run, approval)
    except (StaleError, UnavailableError) as error:
        deps.log("delivery.paused", execution=run.execution.id, reason=str(error))
        return False  # the delivery comes again, and enqueues the slice that it finds in the record
    return True


async def _give_up_lease(deps: LoopDependencies, execution: Execution) -> None:
    try:
        await deps.executions.give_up(execution, now=deps.clock.now())
    except (StaleError, UnavailableError):
        return  # it expires by itself


@asynccontextmanager
async def _heartbeat(deps: LoopDependencies, execution: Execution) -> AsyncIterator[None]:
    """Renew the lease while the model or a tool is waited for; a lost lease shows at the next write."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(deps.lease.total_seconds() / BEATS_PER_LEASE)
            try:
                await deps.executions.renew(execution, now=deps.clock.now(), lease=deps.lease)
            except StaleError:
                return
            except Exception as fault:  # noqa: BLE001 - the next beat tries again; fencing rejects writes after a lost lease
                deps.log("lease.beat_failed", execution=execution.id, kind=type(fault).__name__, severity="WARNING")

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)

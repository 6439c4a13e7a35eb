"""The parts of an execution's cost, each found as what one run counts more than another."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime

from bench.operations.counting import ACCESSES, READS, Counts
from bench.operations.played import Played
from bench.operations.services import API, ORCHESTRATOR
from bench.operations.stage import NEVER, STORED, STREAMED, Stage, stage
from ferryman.domain.owners.stream import HOLD
from ferryman.feeds import Feed
from ferryman.schedules.sweep import sweep
from ferryman.serving import sse

ANSWER_BYTES = 4_000
"""What the upstream answers here: more than an index keeps of a text, so that every further byte counts once."""

Part = Counts


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What each part costs.

    An execution of T turns with calls, N calls and an answer costs start + opening + T turns + N calls + end. `late_turn` is
    the same as `turn`, counted later in the run. `slice` comes for each further delivery, besides reading the journal so far
    once; `look` for each second that a model or a service is waited for; `beat` for each third of a lease; `watch` for somebody
    who watches and is counted, besides reading the journal once and a `poll` each time; `sweep` every ten minutes while any
    task has a schedule. `instance` is what new instances of the functions ask for once. A call's bytes are without its
    answer's.
    """

    start: Part
    opening: Part
    turn: Part
    late_turn: Part
    call: Part
    end: Part
    slice: Part
    look: Part
    beat: Part
    watch: Part
    poll: Part
    sweep: Part
    instance: Part


@dataclass(frozen=True, kw_only=True)
class Run:
    """The counts of one execution: once started, before each model call, and at the end; what a watcher then received."""

    started: Counts
    at_turn: list[Counts]
    ended: Counts
    watched: Counts


async def measure(turns: int) -> Measured:
    """Executions of so many turns, at least 4, with one call a turn and with three; what differs is the calls' share."""
    async with stage(ANSWER_BYTES) as on:
        on.counts.clear()
        warm = await _run(on, 1, 1)
        instance = Counter({key: value for key, value in warm.ended.items() if key[1] == ACCESSES})
        one, three = await _run(on, turns, 1), await _run(on, turns, 3)
        call = _share(_less(three.at_turn[3], three.at_turn[2]), _less(one.at_turn[3], one.at_turn[2]), 2)
        early, late = (_less(_less(one.at_turn[n], one.at_turn[n - 1]), call) for n in (2, turns - 1))
        call["house", STORED] -= ANSWER_BYTES
        call[API, STREAMED] = (three.watched[API, STREAMED] - one.watched[API, STREAMED]) // (2 * turns)
        both = (one.watched[API, STREAMED] - warm.watched[API, STREAMED]) // (turns - 1)
        early[API, STREAMED] = late[API, STREAMED] = both - call[API, STREAMED]
        watch = _less(warm.watched, Counter({(API, READS): 2 + 1, (API, STREAMED): both}))  # two steps and a ticket
        return Measured(
            start=one.started,
            opening=_less(one.at_turn[0], one.started),
            turn=early,
            late_turn=late,
            call=call,
            end=_less(one.ended, one.at_turn[-1]),
            slice=await _slice(on, turns, one.ended),
            watch=watch + await _stream(on),
            instance=instance,
            **await _by_the_clock(on),
        )


async def _run(on: Stage, turns: int, calls: int, *, busy_at: int | None = None) -> Run:
    on.counts.clear()
    execution = await on.started()
    started = on.snapshot(execution)
    played = Played(turns, calls, lambda: on.snapshot(execution), at=busy_at)
    await on.delivered(execution, played)
    ended = on.snapshot(execution)
    answer = await on.asks.get(f"/v1/executions/{execution}/events")
    on.counts[API, STREAMED] += len(answer.content)
    return Run(started=started, at_turn=played.at_turn, ended=ended, watched=_less(on.snapshot(execution), ended))


async def _slice(on: Stage, turns: int, plain: Counts) -> Part:
    """Return what a further delivery adds. It reads each step and each ticket of before: two for each turn of one call."""
    first, later = [_less((await _run(on, turns, 1, busy_at=at)).ended, plain) for at in (1, 3)]
    assert later[ORCHESTRATOR, READS] - first[ORCHESTRATOR, READS] == 2 * (3 - 1), "a delivery reads the journal once"
    first[ORCHESTRATOR, READS] -= 2
    return first


async def _by_the_clock(on: Stage) -> dict[str, Part]:
    """Return what seconds cost: looks at the kill switches, beats of the lease, polls of a watcher, and a sweep of the
    schedules."""
    found: dict[str, Part] = {}
    execution = await on.started()

    async def meanwhile() -> None:
        held = await on.looks.get(execution)
        assert held is not None
        before = on.snapshot(execution)
        await on.loop.halts.find_halt_reason(held.owner, created=held.created_at)
        looked = on.snapshot(execution)
        await on.loop.executions.renew(held, now=on.loop.clock.now(), lease=NEVER)
        beaten = on.snapshot(execution)
        found["look"], found["beat"] = _less(looked, before), _less(beaten, looked)
        found["poll"] = await _poll(on, execution)

    await on.delivered(execution, Played(2, 1, Counter, at=1, meanwhile=meanwhile))
    await on.scheduled()
    before = on.snapshot(execution)
    await sweep(on.schedules, at=datetime.now(UTC))
    return {**found, "sweep": _less(on.snapshot(execution), before)}


async def _stream(on: Stage) -> Part:
    """Return what counting a stream among its owner's open ones costs: its beginning and its end."""
    before, now = on.snapshot(""), on.loop.clock.now()
    assert await on.deps.streams.hold("owner", "stream", now=now, until=now + HOLD, most=1)
    await on.deps.streams.release("owner", "stream")
    return _less(on.snapshot(""), before)


async def _poll(on: Stage, execution: str) -> Part:
    """Return what a watcher reads each time it looks, while nothing is new."""
    held = await on.looks.get(execution)
    assert held is not None
    seen: list[Counts] = []

    class Enough(Exception):  # noqa: N818 - it is no error
        pass

    async def sleep(_: float) -> None:
        seen.append(on.snapshot(execution))
        if len(seen) == 3:
            raise Enough

    try:
        async for _ in sse.stream_events(Feed(on.deps.executions, held), after=0, poll_s=1, sleep=sleep):
            pass
    except Enough:
        pass
    return _less(seen[2], seen[1])


def _less(more: Counts, less: Counts) -> Part:
    return Counter({key: more[key] - less[key] for key in more.keys() | less.keys() if more[key] != less[key]})


def _share(many: Counts, few: Counts, of: int) -> Part:
    return Counter({key: value // of for key, value in _less(many, few).items()})

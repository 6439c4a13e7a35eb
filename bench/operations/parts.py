"""The parts of an execution's cost, each the difference between the counts of two runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from bench.operations.counting import ACCESSES, READS, TASKS, Counts
from bench.operations.direct import count_direct_call
from bench.operations.keyless import CALLS, add_keyless, count_keyless
from bench.operations.model import CountingModel
from bench.operations.pages import count_pages
from bench.operations.services import API, ORCHESTRATOR
from bench.operations.system import ALL, INVOKED, NEVER, STORED, STREAMED, WORKSPACE, CountedSystem, run_system
from ferryman.alerts import dispatch
from ferryman.domain.delivery import OVERDUE
from ferryman.domain.owners.stream import HOLD
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.feeds import Feed
from ferryman.inmemory.clock import ManualClock
from ferryman.metering.roll_up import deliver as deliver_round
from ferryman.schedules.fire import sweep

ANSWER_BYTES = 4_000
"""What the upstream answers here: more than an index stores of a text, so that every further byte counts once."""

Part = Counts


@dataclass(frozen=True, kw_only=True)
class PartCounts:
    """The counts of each part.

    An execution of T turns with calls, N calls and an answer costs start + opening + T turns + N calls + end, with `admission`
    in place of `start` where an application's document asked for it. `late_turn` is the same as `turn`, counted later in the
    run. `slice` is added for each further delivery, besides reading the journal so far once; `look` for each second in which
    an instance waits for models or services, however many executions share it; `beat` for each third of a lease; `watch` for
    each watcher that is counted, besides reading the journal once and a `poll` each time; `check` for each time that it is
    read whether the watcher still may; `sweep` every ten minutes while any task has a schedule. `conversation` is added for an
    execution in a conversation that has a limit, and `alert_repeat` for each alert of a budget: its second delivery, which
    finds it settled. `roll_up` is a round that rolls up what the executions of a workspace used in some seconds, `usage_event`
    is added for each of their turns. `direct_call` is all of an execution that makes one call of an MCP client. `instance` is
    what new instances of the functions ask for once. The bytes of a call are without those of its answer.

    `file_write`, `file_read`, `web_fetch` and `web_search_tool` take the place of `call`, for a call of that tool,
    `kept_result` for one of `web_fetch` whose long result is kept as a file, and `kept_answer` for one of `api_call`. What they
    store of an answer is in none of them.

    `page_…` is what opening a page of the console asks for, `…_again` what it asks for while it stays open, and `page_check`
    how a stream of a page reads whether its session is still good.
    """

    start: Part
    admission: Part
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
    check: Part
    sweep: Part
    instance: Part
    conversation: Part
    alert_repeat: Part
    direct_call: Part
    roll_up: Part
    usage_event: Part
    file_write: Part
    file_read: Part
    web_fetch: Part
    kept_result: Part
    kept_answer: Part
    web_search_tool: Part
    page_overview: Part
    page_overview_again: Part
    page_executions: Part
    page_executions_again: Part
    page_execution: Part
    page_approvals: Part
    page_approvals_again: Part
    page_conversations: Part
    page_conversation: Part
    page_tasks: Part
    page_task: Part
    page_check: Part


@dataclass(frozen=True, kw_only=True)
class Run:
    """The counts of one execution: after its start, before each model call, and at the end; what a watcher then received."""

    started: Counts
    at_turn: list[Counts]
    ended: Counts
    watched: Counts


async def measure(turns: int) -> PartCounts:
    """Run executions of `turns` turns, at least 4, with one call per turn and with three, and take the differences."""
    async with run_system(ANSWER_BYTES) as system:
        system.counts.clear()
        warm = await _count_execution(system, 1, 1)
        instance = Counter({key: value for key, value in warm.ended.items() if key[1] == ACCESSES})
        with_one, with_three = await _count_execution(system, turns, 1), await _count_execution(system, turns, 3)
        call = _divide(
            _subtract(with_three.at_turn[3], with_three.at_turn[2]), _subtract(with_one.at_turn[3], with_one.at_turn[2]), 2
        )
        early, late = (_subtract(_subtract(with_one.at_turn[n], with_one.at_turn[n - 1]), call) for n in (2, turns - 1))
        call[ALL, STORED] -= ANSWER_BYTES
        call[API, STREAMED] = (with_three.watched[API, STREAMED] - with_one.watched[API, STREAMED]) // (2 * turns)
        both = (with_one.watched[API, STREAMED] - warm.watched[API, STREAMED]) // (turns - 1)
        early[API, STREAMED] = late[API, STREAMED] = both - call[API, STREAMED]
        watch = _subtract(warm.watched, Counter({(API, READS): 2 + 1, (API, STREAMED): both}))  # two steps and a ticket
        opening = _subtract(with_one.at_turn[0], with_one.started)
        by_document = await _count_execution(system, 1, 1, by_document=True)
        return PartCounts(
            start=with_one.started,
            admission=_subtract(by_document.at_turn[0], opening),
            opening=opening,
            turn=early,
            late_turn=late,
            call=call,
            end=_subtract(with_one.ended, with_one.at_turn[-1]),
            slice=await _count_slice(system, turns, with_one.ended),
            watch=watch + await _count_stream(system),
            check=await _count_check(system),
            instance=instance,
            conversation=await _count_conversation(system),
            alert_repeat=await _count_alert_repeat(system),
            direct_call=await count_direct_call(system),
            **await _count_roll_up(system),
            **await _count_by_time(system),
            **await _count_keyless(system),
            **await count_pages(system, await _find_execution(system)),
        )


async def _find_execution(system: CountedSystem) -> str:
    listed = await system.client.get("/v1/executions", params={"status": "completed"})
    return str(listed.json()["executions"][0]["execution_id"])


async def _count_execution(
    system: CountedSystem,
    turns: int,
    calls: int,
    *,
    busy_turn: int | None = None,
    by_document: bool = False,
    conversation: str | None = None,
) -> Run:
    system.counts.clear()
    execution = await (system.request_execution() if by_document else system.start_execution(conversation))
    started = system.snapshot(execution)
    model = CountingModel(turns, calls, lambda: system.snapshot(execution), busy_turn=busy_turn)
    await system.deliver(execution, model)
    ended = system.snapshot(execution)
    answer = await system.client.get(f"/v1/executions/{execution}/events")
    system.counts[API, STREAMED] += len(answer.content)
    return Run(started=started, at_turn=model.at_turn, ended=ended, watched=_subtract(system.snapshot(execution), ended))


async def _count_slice(system: CountedSystem, turns: int, plain: Counts) -> Part:
    """Return what a further delivery adds. It reads each earlier step and ticket: two for each turn of one call."""
    first, later = [_subtract((await _count_execution(system, turns, 1, busy_turn=turn)).ended, plain) for turn in (1, 3)]
    assert later[ORCHESTRATOR, READS] - first[ORCHESTRATOR, READS] == 2 * (3 - 1), "a delivery reads the journal once"
    first[ORCHESTRATOR, READS] -= 2
    return first


async def _count_by_time(system: CountedSystem) -> dict[str, Part]:
    """Return what passing time costs: reading the kill switches, renewing the lease, polls of a watcher, and a sweep of the
    schedules."""
    by_part: dict[str, Part] = {}
    execution = await system.start_execution()

    async def count_meanwhile() -> None:
        record = await system.operator_store.get(execution)
        assert record is not None
        before = system.snapshot(execution)
        await system.loop.halts.find_halt_reasons([(record.owner, record.created_at)])
        after_look = system.snapshot(execution)
        await system.loop.executions.renew(record, now=system.loop.clock.now(), lease=NEVER)
        after_beat = system.snapshot(execution)
        by_part["look"], by_part["beat"] = _subtract(after_look, before), _subtract(after_beat, after_look)
        by_part["poll"] = await _count_poll(system, execution)

    await system.deliver(execution, CountingModel(2, 1, Counter, busy_turn=1, action=count_meanwhile))
    await system.schedule_task()
    before = system.snapshot(execution)
    await sweep(system.schedules, at=datetime.now(UTC))
    return {**by_part, "sweep": _subtract(system.snapshot(execution), before)}


async def _count_stream(system: CountedSystem) -> Part:
    """Return what counting a stream among its owner's open ones costs, at its beginning and its end."""
    before, now = system.snapshot(""), system.loop.clock.now()
    assert await system.deps.streams.hold("owner", "stream", now=now, until=now + HOLD, most=1)
    await system.deps.streams.release("owner", "stream")
    return _subtract(system.snapshot(""), before)


async def _count_check(system: CountedSystem) -> Part:
    """Return what it costs to read whether a watcher may still watch: one whose key is for a workspace of its own, which asks
    for most."""
    before = system.snapshot("")
    key = ApiKey(owner="owner", person="person", workspace="workspace", created_at=datetime.now(UTC))
    await system.deps.keys.check("digest", key, key.workspace)
    return _subtract(system.snapshot(""), before)


async def _count_conversation(system: CountedSystem) -> Part:
    """Return what an execution in a conversation that has a limit costs more than one in none: the second of one, since the
    first creates its balance."""
    await system.limit_conversations()
    plain = await _count_execution(system, 1, 1)
    talks = [await _count_execution(system, 1, 1, conversation="conversation") for _ in range(2)]
    return _subtract(talks[1].ended, plain.ended)


async def _count_alert_repeat(system: CountedSystem) -> Part:
    """Return what the second delivery of an alert costs, which is enqueued with the first one and finds it settled."""
    alert = await system.store_settled_alert()
    before = system.snapshot("")
    await system.loop.alerts.enqueue(alert, after=OVERDUE, wake_up="overdue")
    system.counts[ORCHESTRATOR, TASKS] += 1  # the queue bills its delivery, too
    system.counts[ORCHESTRATOR, INVOKED] += 1
    assert await dispatch.deliver(system.alerts, alert)
    return _subtract(system.snapshot(""), before)


async def _count_roll_up(system: CountedSystem) -> dict[str, Part]:
    """Return what a round of roll-ups costs, and what each event adds to it."""
    clock, usage = ManualClock(datetime.now(UTC)), system.metering.usage
    counted: list[Counts] = []
    for turns in (1, 2, 4):  # the first of them rolls up what is left of the executions before
        await _count_execution(system, turns, 1)
        before = system.snapshot("")
        clock.turn(timedelta(minutes=1))
        system.counts[ORCHESTRATOR, TASKS] += 1  # the queue bills the delivery, which was enqueued at the execution's end
        system.counts[ORCHESTRATOR, INVOKED] += 1
        assert await deliver_round(replace(system.metering, clock=clock), WORKSPACE, number=turns, slice=0)
        counted.append(_subtract(system.snapshot(""), before))
        del counted[-1][ALL, STORED]  # an event is stored for some seconds only
        assert await usage.list_events(WORKSPACE, most=1) == []
    event = _divide(counted[2], counted[1], 2)
    return {"usage_event": event, "roll_up": _subtract(counted[1], event + event + event)}  # two turns, and the answer


async def _count_keyless(system: CountedSystem) -> dict[str, Part]:
    """Return what a call of each tool of files and of pages costs, with what it adds to its turn."""
    with_files = await add_keyless(system)
    by_part: dict[str, Part] = {}
    for kind in CALLS:
        first, second, third, fourth = await count_keyless(with_files, kind)
        by_part[kind] = _divide(_subtract(fourth, third), _subtract(second, first), 2)
        del by_part[kind][ALL, STORED]  # what was answered, which is made up here, is most of it
    return by_part


async def _count_poll(system: CountedSystem, execution: str) -> Part:
    """Return what a poll of a watcher reads while nothing is new."""
    record = await system.operator_store.get(execution)
    assert record is not None
    snapshots: list[Counts] = []
    feed, read = Feed(system.deps.executions, record), 0
    for _ in range(3):
        read = await feed.refresh(read)
        snapshots.append(system.snapshot(execution))
    return _subtract(snapshots[2], snapshots[1])


def _subtract(larger: Counts, smaller: Counts) -> Part:
    return Counter({key: larger[key] - smaller[key] for key in larger.keys() | smaller.keys() if larger[key] != smaller[key]})


def _divide(many: Counts, few: Counts, divisor: int) -> Part:
    return Counter({key: value // divisor for key, value in _subtract(many, few).items()})

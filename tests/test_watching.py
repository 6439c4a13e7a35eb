"""The hub: everyone who watches an execution in one process gets the same snapshots, for the reads of one."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.conversations.live import LiveBlock, LiveTurn
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import Execution, Status
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.queue import MemoryQueue
from ferryman.ports.errors import UnavailableError
from ferryman.watching.hub import Hub
from tests.builders import build_execution, build_lease, build_step

FOREVER_S = 3_600.0


def write(text: str, event: int = 2) -> LiveTurn:
    return LiveTurn(event=event, blocks=(LiveBlock(text),))


class Bell:
    """`ports.Notices` of a test that sounds it."""

    def __init__(self) -> None:
        self.live: LiveTurn | None = None
        self.followers = 0
        self.is_alone = asyncio.Event()
        self.is_taken = asyncio.Event()
        """Set once what sounded last was taken, and the next is waited for."""
        self._number = 0
        self._sounded = asyncio.Event()

    @asynccontextmanager
    async def follow(self, _: str) -> AsyncIterator[Bell]:
        self.followers += 1
        try:
            yield self
        finally:
            self.followers -= 1
            self.is_alone.set()

    async def wait(self, _: float) -> bool:
        before = self._number
        if not self._sounded.is_set():
            self.is_taken.set()
        await self._sounded.wait()
        self._sounded.clear()
        return self._number != before

    def sound(self) -> None:
        self._number += 1
        self.is_taken.clear()
        self._sounded.set()

    def show(self, turn: LiveTurn | None) -> None:
        self.live = turn
        self.is_taken.clear()
        self._sounded.set()


class Wire:
    """`ports.DeliveryRelay` of a test that says what comes."""

    def __init__(self) -> None:
        self.delivered: list[str] = []
        self.turns: asyncio.Queue[LiveTurn | Exception | None] = asyncio.Queue()
        self.is_over = False

    async def deliver(self, execution: Execution) -> AsyncIterator[LiveTurn | None]:
        self.delivered.append(execution.id)
        while not self.is_over:
            turn = await self.turns.get()
            if isinstance(turn, Exception):
                raise turn
            yield turn
            self.turns.task_done()


class CountedExecutions(MemoryExecutions):
    """Executions in memory, with how often each was read."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self.reads: Counter[str] = Counter()
        self.fault: Exception | None = None
        self.is_asked, self.may_answer = asyncio.Event(), asyncio.Event()
        self.may_answer.set()

    def __getattribute__(self, name: str) -> Any:
        if name in ("get", "steps", "tickets", "live"):
            if self.fault is not None:
                raise self.fault
            self.reads[name] += 1
        return super().__getattribute__(name)

    async def steps(self, *which: Any, **options: Any) -> Any:
        self.is_asked.set()
        await self.may_answer.wait()
        return await super().steps(*which, **options)


class Room:
    """A hub with one execution, and what it is told."""

    def __init__(self) -> None:
        self.memory, self.bell, self.wire = Memory(), Bell(), Wire()
        self.executions, self.queue = CountedExecutions(self.memory), MemoryQueue()
        self.hub = Hub(self.executions, self.queue, RecordingLog(), notices=self.bell, relay=self.wire, poll_s=FOREVER_S)
        self.put(status=Status.RUNNING, lease=build_lease(), events=1)

    def put(self, **fields: Any) -> Execution:
        current = self.memory.executions.get("e") or build_execution(conversation="c", answer=2)
        self.memory.executions["e"] = replace(current, **fields)
        return self.memory.executions["e"]

    def commit(self, number: int) -> None:
        self.memory.steps.setdefault("e", {})[number] = build_step(number=number, event=number + 1)
        self.put(events=number + 1)

    def watch(self) -> AsyncIterator[WatchedAnswer]:
        return self.hub.watch(self.memory.executions["e"])


@pytest.fixture
async def room() -> Room:
    return Room()


async def test_what_is_written_is_shown_with_all_turns_before_it(room: Room) -> None:
    room.commit(1)
    room.executions.may_answer.clear()
    first = asyncio.ensure_future(anext(room.watch()))
    await room.executions.is_asked.wait()
    room.bell.show(write("I look", event=3))
    await room.bell.is_taken.wait()
    room.executions.may_answer.set()
    snapshot = await first
    assert ([step.number for step in snapshot.steps], snapshot.live) == ([1], write("I look", event=3))


async def test_what_is_there_comes_first_and_then_what_changes(room: Room) -> None:
    watching = room.watch()
    assert (await anext(watching)).steps == ()
    room.commit(1)
    room.bell.sound()
    assert [step.number for step in (await anext(watching)).steps] == [1]


async def test_it_ends_with_the_execution(room: Room) -> None:
    watching = room.watch()
    await anext(watching)
    room.put(status=Status.COMPLETED)
    room.bell.sound()
    assert [watched.execution.status async for watched in watching] == [Status.COMPLETED]
    assert room.bell.followers == 0


async def test_it_ends_where_the_execution_is_deleted(room: Room) -> None:
    watching = room.watch()
    await anext(watching)
    del room.memory.executions["e"]
    room.bell.sound()
    assert [watched async for watched in watching] == []


async def test_sixty_four_watchers_cost_the_reads_of_one(room: Room) -> None:
    watchers = [room.watch() for _ in range(64)]
    await asyncio.gather(*(anext(watching) for watching in watchers))
    room.commit(1)
    room.bell.sound()
    latest = await asyncio.gather(*(anext(watching) for watching in watchers))
    assert {id(watched) for watched in latest} == {id(latest[0])}
    assert room.executions.reads == {"get": 1, "steps": 2, "tickets": 2}


async def test_who_is_slow_gets_the_newest(room: Room) -> None:
    watching, other = room.watch(), room.watch()
    await asyncio.gather(anext(watching), anext(other))
    for number in (1, 2, 3):
        room.commit(number)
        room.bell.sound()
        await anext(other)
    assert len((await anext(watching)).steps) == 3


async def test_the_turn_under_way_comes_with_its_notice_and_without_a_read(room: Room) -> None:
    watching = room.watch()
    await anext(watching)
    before = room.executions.reads.total()
    room.bell.show(write("In Harwich."))
    assert (await anext(watching)).live == write("In Harwich.")
    assert room.executions.reads.total() == before


async def test_it_is_old_once_it_is_committed(room: Room) -> None:
    watching = room.watch()
    room.bell.show(write("In Harwich."))
    await read_until(watching, lambda watched: watched.live is not None)
    room.commit(1)
    room.bell.sound()
    await read_until(watching, lambda watched: len(watched.steps) == 1 and watched.live is None)


async def test_before_what_precedes_it_is_read_it_is_not_shown(room: Room) -> None:
    watching = room.watch()
    await anext(watching)
    room.commit(1)
    room.bell.show(write("Then", event=3))
    room.bell.sound()
    live = write("Then", event=3)
    before = await read_until(watching, lambda watched: watched.live == live and len(watched.steps) == 1)
    assert all(watched.live is None for watched in before)


async def test_an_answer_that_waits_is_begun_and_relayed(room: Room) -> None:
    room.put(status=Status.QUEUED, lease=None, events=0)
    watching = room.watch()
    assert (await anext(watching)).execution.status is Status.QUEUED
    room.put(status=Status.RUNNING, lease=build_lease(), events=1)
    room.wire.turns.put_nowait(None)
    assert (await anext(watching)).execution.status is Status.RUNNING
    room.wire.turns.put_nowait(write("In "))
    assert (await anext(watching)).live == write("In ")
    assert room.wire.delivered == ["e"]


async def test_an_answer_is_begun_before_anybody_watches_it(room: Room) -> None:
    waiting = room.put(status=Status.QUEUED, lease=None, events=0)
    assert room.hub.begin(waiting)
    room.put(status=Status.RUNNING, lease=build_lease(), events=1)
    room.wire.turns.put_nowait(write("In Harwich."))
    await read_until(room.hub.watch(waiting), lambda watched: watched.live == write("In Harwich."))
    assert room.wire.delivered == ["e"]


async def test_without_a_relay_nothing_is_begun(room: Room) -> None:
    hub = Hub(room.executions, room.queue, RecordingLog(), notices=room.bell, poll_s=FOREVER_S)
    assert not hub.begin(room.put(status=Status.QUEUED, lease=None, events=0))


async def test_it_is_begun_once_however_many_watch(room: Room) -> None:
    room.put(status=Status.QUEUED, lease=None, events=0)
    watchers = [room.watch() for _ in range(3)]
    await asyncio.gather(*(anext(watching) for watching in watchers))
    assert room.wire.delivered == ["e"]


@pytest.mark.parametrize("fields", [{"answer": 0}, {"status": Status.RUNNING}])
async def test_nothing_else_is_begun(room: Room, fields: dict[str, Any]) -> None:
    room.put(**{"status": Status.QUEUED, **fields})
    await anext(room.watch())
    assert room.wire.delivered == []


async def test_a_relay_goes_on_where_its_watcher_leaves_and_the_next_sees_all_of_it(room: Room) -> None:
    room.put(status=Status.QUEUED, lease=None, events=0)
    watching = room.watch()
    await anext(watching)
    await watching.aclose()
    room.put(status=Status.RUNNING, lease=build_lease(), events=1)
    room.wire.turns.put_nowait(write("In Harwich."))
    await room.wire.turns.join()
    await read_until(room.watch(), lambda watched: watched.live == write("In Harwich."))
    assert room.wire.delivered == ["e"]


async def test_after_a_relay_what_was_stored_earlier_does_not_take_the_place_of_what_was_seen(room: Room) -> None:
    room.put(status=Status.QUEUED, lease=None, events=0)
    watching = room.watch()
    await anext(watching)
    room.put(status=Status.RUNNING, lease=build_lease(), events=1)
    room.wire.turns.put_nowait(write("In Harwich."))
    await read_until(watching, lambda watched: watched.live == write("In Harwich."))
    room.wire.turns.put_nowait(UnavailableError("gone"))
    await read_until(watching, lambda watched: watched.live is None)
    for text, live in (("In ", None), ("In Harwich. There.", write("In Harwich. There."))):
        room.bell.show(write(text))
        await room.bell.is_taken.wait()
        assert (await anext(room.watch())).live == live


async def test_where_a_relay_breaks_the_store_is_followed(room: Room) -> None:
    room.put(status=Status.QUEUED, lease=None, events=0)
    watching = room.watch()
    await anext(watching)
    room.put(status=Status.RUNNING, lease=build_lease(), events=1)
    room.wire.turns.put_nowait(UnavailableError("gone"))
    assert (await anext(watching)).execution.status is Status.RUNNING
    assert [(delivery.execution, delivery.wake_up) for delivery in room.queue.waiting] == [("e", "relay")]
    room.bell.show(write("In Harwich."))
    assert (await anext(watching)).live == write("In Harwich.")


async def test_the_next_answer_of_a_conversation_is_begun_once_the_one_before_has_ended(room: Room) -> None:
    following = replace(room.put(), id="f", answer=4, status=Status.QUEUED, lease=None)
    room.memory.executions["f"] = following
    room.wire.is_over = True  # it was not its turn
    waiting = room.hub.watch(following)
    await anext(waiting)
    watching = room.watch()
    await anext(watching)
    room.put(status=Status.COMPLETED)
    room.bell.sound()
    assert [watched.execution.status async for watched in watching] == [Status.COMPLETED]
    await asyncio.sleep(0)
    assert room.wire.delivered == ["f", "f"]


async def test_every_watcher_learns_that_the_record_cannot_be_read(room: Room) -> None:
    watchers = [room.watch() for _ in range(2)]
    await asyncio.gather(*(anext(watching) for watching in watchers))
    room.executions.fault = UnavailableError("away")
    room.bell.sound()
    for watching in watchers:
        with pytest.raises(UnavailableError):
            await anext(watching)


async def test_without_notices_the_record_and_the_turn_under_way_are_read_again(room: Room) -> None:
    room.hub = Hub(room.executions, room.queue, RecordingLog(), notices=None, poll_s=0)
    watching = room.watch()
    await anext(watching)
    room.memory.live["e"] = write("In Harwich.")
    assert (await anext(watching)).live == write("In Harwich.")


async def test_nothing_is_followed_once_all_have_left(room: Room) -> None:
    watching = room.watch()
    await anext(watching)
    await watching.aclose()
    await room.bell.is_alone.wait()
    assert room.hub.count("o") == 0


async def read_until(
    watching: AsyncIterator[WatchedAnswer], is_there: Callable[[WatchedAnswer], bool]
) -> Sequence[WatchedAnswer]:
    """Read snapshots up to the first for which `is_there` holds; return those before it."""
    before = []
    async for watched in watching:
        if is_there(watched):
            return before
        before.append(watched)
    raise AssertionError("it has ended before")

"""Events over HTTP: framed, numbered, resumed where one stopped, and ended by the finished one."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from decimal import Decimal

import httpx
import pytest

from ferryman.domain.calls.call import TicketState, ToolCallResult
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.domain.executions.execution import ModelTrouble, Status
from ferryman.domain.executions.usage import Usage
from ferryman.feeds import Feed
from ferryman.inmemory.clock import START
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.memory import Memory
from ferryman.serving.streams.frame import KEEP_ALIVE
from ferryman.serving.streams.numbered import NumberedProjection
from ferryman.serving.streams.sending import WatchedState, send_frames
from tests.builders import build_execution, build_step, build_ticket

from .conftest import Stage
from .test_executions import started

STEP = build_step(
    content=({"type": "text", "text": "Line one\nline two"},), stop_reason="tool_use", usage=Usage(input_tokens=1), calls=1
)
TICKET = build_ticket(call="toolu_1", display_arguments={"url": "https://x.example/"})
SETTLED = replace(
    TICKET,
    state=TicketState.SETTLED,
    settled_at=START,
    result=ToolCallResult(tool="http_get", content="ok", response_status=200),
)


def finish(memory: Memory, execution: str) -> None:
    memory.steps[execution] = {1: STEP}
    memory.tickets[execution] = {0: SETTLED}
    known = memory.executions[execution]
    memory.executions[execution] = replace(known, status=Status.COMPLETED, started_at=START, completed_at=START, output="done")


def parse_frames(text: str) -> list[dict[str, str]]:
    return [dict(line.split(": ", 1) for line in frame.split("\n")) for frame in text.strip().split("\n\n")]


def kinds(text: str) -> list[tuple[str, str]]:
    return [(frame["id"], frame["event"]) for frame in parse_frames(text) if "id" in frame]


def find_progress(frames: list[str]) -> list[dict[str, str]]:
    """Return the bodies of the frames that tell what was spent so far."""
    return [json.loads(frame["data"]) for frame in parse_frames("".join(frames)) if frame["event"] == "progress"]


async def test_a_finished_execution_is_told_from_start_to_end(client: httpx.AsyncClient, task: str, stage: Stage) -> None:
    execution = await started(client, task)
    finish(stage.memory, execution)
    answer = await client.get(f"/v1/executions/{execution}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert kinds(answer.text) == [("1", "started"), ("2", "turn"), ("3", "tool_call"), ("4", "tool_result"), ("5", "finished")]


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("?after=3", {}),
        ("", {"Last-Event-ID": "3"}),
        ("?after=1", {"Last-Event-ID": "3"}),
        ("?after=3", {"Last-Event-ID": "?"}),
    ],
)
async def test_a_watcher_resumes_after_what_it_has_seen(
    client: httpx.AsyncClient, task: str, stage: Stage, path: str, headers: dict[str, str]
) -> None:
    execution = await started(client, task)
    finish(stage.memory, execution)
    answer = await client.get(f"/v1/executions/{execution}/events{path}", headers=headers)
    assert kinds(answer.text) == [("4", "tool_result"), ("5", "finished")]


async def watched(*changes: Callable[[Memory], None], polls: int = 0) -> list[str]:
    """Return the frames seen when each poll makes the next change; after `polls` quiet ones the execution is over."""
    memory = Memory()
    begun = build_execution(id="exec_1", task="task_1", owner="ann")
    memory.executions["exec_1"] = begun
    waiting = [*([lambda _: None] * polls), *changes]

    async def follow() -> AsyncGenerator[WatchedState, None]:
        feed, read = Feed(MemoryExecutions(memory), begun), 0
        while True:
            read = await feed.refresh(read)
            if feed.current is None:
                return
            yield WatchedAnswer(execution=feed.current, steps=feed.steps, tickets=dict(feed.tickets))
            yield 1.0
            waiting.pop(0)(memory)

    return [frame async for frame in send_frames(NumberedProjection(), follow())]


def running(memory: Memory) -> None:
    memory.executions["exec_1"] = replace(memory.executions["exec_1"], status=Status.RUNNING, started_at=START)


def turned(memory: Memory) -> None:
    memory.steps["exec_1"] = {1: STEP}
    memory.tickets["exec_1"] = {0: TICKET}


def settled(memory: Memory) -> None:
    memory.tickets["exec_1"] = {0: SETTLED}


def end_execution(memory: Memory) -> None:
    memory.executions["exec_1"] = replace(memory.executions["exec_1"], status=Status.COMPLETED, completed_at=START)


async def test_each_event_is_told_once_as_it_happens() -> None:
    frames = await watched(running, turned, settled, end_execution)
    assert kinds("".join(frames)) == [
        ("1", "started"),
        ("2", "turn"),
        ("3", "tool_call"),
        ("4", "tool_result"),
        ("5", "finished"),
    ]


async def test_a_watcher_who_hears_nothing_is_told_that_the_line_is_open() -> None:
    frames = await watched(end_execution, polls=31)
    assert frames[:2] == [KEEP_ALIVE, KEEP_ALIVE]
    assert kinds("".join(frames[2:])) == [("1", "finished")]


async def test_an_execution_that_is_deleted_ends_the_watch() -> None:
    assert await watched(lambda memory: memory.executions.clear()) == []


async def test_a_text_of_several_lines_is_one_line_of_data() -> None:
    frames = await watched(running, turned, settled, end_execution)
    assert all(frame.count("\n") == (4 if frame.startswith("id: ") else 3) for frame in frames)


async def test_a_watcher_who_has_seen_the_end_is_told_not_to_come_again(
    client: httpx.AsyncClient, task: str, stage: Stage
) -> None:
    execution = await started(client, task)
    finish(stage.memory, execution)
    answer = await client.get(f"/v1/executions/{execution}/events", headers={"Last-Event-ID": "5"})
    assert (answer.status_code, answer.content) == (204, b"")


def spend(memory: Memory) -> None:
    memory.executions["exec_1"] = replace(memory.executions["exec_1"], credits_reserved=Decimal(100), iterations=1)
    memory.steps["exec_1"] = {1: replace(STEP, credits=Decimal("1.25"))}
    memory.tickets["exec_1"] = {0: replace(TICKET, tool="api_call")}


def charge_fee(memory: Memory) -> None:
    paid = ToolCallResult(tool="api_call", content="ok", credential_used="KEY", response_status=200)
    memory.tickets["exec_1"] = {0: replace(SETTLED, tool="api_call", result=paid)}


async def test_credits_are_told_as_they_are_spent() -> None:
    frames = await watched(running, spend, charge_fee, end_execution)
    amounts = [(progress["credits_used"], progress["credits_reserved"]) for progress in find_progress(frames)]
    assert amounts == [("1.25", "100"), ("1.75", "100")]


def read_turn_first(memory: Memory) -> None:
    """Have the execution as it was before its first turn, which is there already, as two reads may give them."""
    memory.steps["exec_1"] = {1: replace(STEP, credits=Decimal("1.25"))}


async def test_credits_wait_for_the_execution_that_has_reserved_them() -> None:
    assert find_progress(await watched(running, read_turn_first, end_execution)) == []


async def test_credits_are_not_told_again_while_none_are_spent() -> None:
    quiet = [lambda _: None] * 5
    assert len(find_progress(await watched(running, spend, *quiet, end_execution))) == 1


async def test_what_was_spent_so_far_has_no_number_to_resume_after() -> None:
    frames = await watched(running, spend, end_execution)
    (progress,) = (frame for frame in frames if "event: progress" in frame)
    assert "id:" not in progress


def struggle(memory: Memory) -> None:
    trouble = ModelTrouble(attempts=3, unreached=3, cause="it refused the connection")
    memory.executions["exec_1"] = replace(memory.executions["exec_1"], model_trouble=trouble)


async def test_why_the_model_does_not_answer_is_told_while_it_does_not() -> None:
    (progress,) = find_progress(await watched(running, struggle, end_execution))
    assert (progress["attempts"], progress["cause"]) == (3, "it refused the connection")

"""Formats of streams over HTTP: chosen by name or by `Accept`, resumed by the id of any frame, and not opened for nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import httpx
import pytest

from ferryman.domain.conversations.conversation import PendingAnswer
from ferryman.domain.conversations.position import parse_position
from ferryman.domain.executions.execution import Status
from ferryman.inmemory.clock import START
from ferryman.serving.api.stream_request import parse_event_id
from tests.builders import build_execution

from .conftest import Stage
from .test_events import finish, kinds, parse_frames
from .test_executions import started

ANSWER = "exec_answer"


def list_types(text: str) -> list[str]:
    bodies = [frame["data"] for frame in parse_frames(text)]
    return [body if body == "[DONE]" else json.loads(body).get("type", "") for body in bodies]


TYPES = {
    "message": ["start", "thinking", "content", "usage", "tool_call", "tool_result", "done"],
    "ag-ui": ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"],
}


@pytest.fixture
async def ending(client: httpx.AsyncClient, task: str, stage: Stage) -> str:
    execution = await started(client, task)
    finish(stage.memory, execution)
    return f"/v1/executions/{execution}/events"


@pytest.mark.parametrize("name", TYPES)
async def test_a_format_is_chosen_by_its_name(client: httpx.AsyncClient, ending: str, name: str) -> None:
    types = list_types((await client.get(f"{ending}?format={name}")).text)
    assert set(TYPES[name]) <= set(types)


@pytest.mark.parametrize(
    "accept", ["text/event-stream; format=vercel", 'application/json, text/event-stream;q=1;FORMAT="vercel"']
)
async def test_a_format_is_chosen_by_what_the_client_accepts(client: httpx.AsyncClient, ending: str, accept: str) -> None:
    answer = await client.get(ending, headers={"Accept": accept})
    assert (answer.headers["x-vercel-ai-ui-message-stream"], list_types(answer.text)[-1]) == ("v1", "[DONE]")


@pytest.mark.parametrize(
    "accept", ["", "*/*", "text/event-stream", "text/event-stream; format=none", "text/html; format=vercel"]
)
async def test_what_names_no_format_gets_numbered_events(client: httpx.AsyncClient, ending: str, accept: str) -> None:
    answer = await client.get(ending, headers={"Accept": accept})
    assert [kind for _, kind in kinds(answer.text)] == ["started", "turn", "tool_call", "tool_result", "finished"]


async def test_a_format_that_there_is_not_is_refused(client: httpx.AsyncClient, ending: str) -> None:
    answer = await client.get(f"{ending}?format=xml")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "format")


@pytest.mark.parametrize("name", ["ferryman", "message", "ag-ui", "vercel"])
async def test_a_stream_goes_on_after_every_id_that_it_has(client: httpx.AsyncClient, ending: str, name: str) -> None:
    whole = (await client.get(f"{ending}?format={name}")).text.split("\n\n")[:-1]
    rests = [
        (await client.get(f"{ending}?format={name}", headers={"Last-Event-ID": frame.partition("\n")[0][4:]})).text.split(
            "\n\n"
        )[:-1]
        for frame in whole[1:]
    ]
    assert rests == [whole[number:] for number in range(2, len(whole) + 1)]


def store_answer(stage: Stage, *, runs: bool) -> None:
    """Store an answer in ann's conversation: one under way, or one that has ending."""
    known = stage.memory.conversations["conv_ann"]
    place = {"owner": known.owner, "workspace": known.workspace, "agent": known.agent, "task": known.task}
    stage.memory.executions[ANSWER] = build_execution(
        id=ANSWER, **place, conversation=known.id, answer=2, question=1, status=Status.RUNNING, started_at=START
    )
    stage.memory.steps[ANSWER], stage.memory.tickets[ANSWER] = {}, {}
    if runs:
        pending = (PendingAnswer(2, ANSWER),)
        stage.memory.conversations[known.id] = replace(known, pending=pending)
    else:
        finish(stage.memory, ANSWER)
        question, answer = stage.memory.messages[known.id][1], stage.memory.messages[known.id][2]
        stage.memory.messages[known.id] = {1: question, 2: replace(answer, execution=ANSWER)}


async def test_the_events_of_a_conversation_are_messages(client: httpx.AsyncClient, stage: Stage) -> None:
    store_answer(stage, runs=False)
    answer = await client.get("/v1/conversations/conv_ann/events?answer=2")
    assert {kind for _, kind in kinds(answer.text)} == {"message"}


async def test_ids_in_a_conversation_name_the_answer(client: httpx.AsyncClient, stage: Stage) -> None:
    store_answer(stage, runs=False)
    answer = await client.get("/v1/conversations/conv_ann/events?answer=2")
    assert {parse_event_id(name)[0] for name, _ in kinds(answer.text)} == {2}


async def test_an_id_is_enough_to_go_on_with_an_answer(client: httpx.AsyncClient, stage: Stage) -> None:
    store_answer(stage, runs=False)
    whole = kinds((await client.get("/v1/conversations/conv_ann/events?answer=2")).text)
    rest = await client.get("/v1/conversations/conv_ann/events", headers={"Last-Event-ID": whole[2][0]})
    assert kinds(rest.text) == whole[3:]


async def test_an_id_of_another_answer_does_not_count(client: httpx.AsyncClient, stage: Stage) -> None:
    store_answer(stage, runs=False)
    whole = (await client.get("/v1/conversations/conv_ann/events?answer=2")).text
    again = await client.get("/v1/conversations/conv_ann/events?answer=2", headers={"Last-Event-ID": "4.3"})
    assert again.text == whole


@pytest.mark.parametrize("name", ["message", "ag-ui", "vercel"])
async def test_a_conversation_in_which_nothing_runs_has_no_stream(client: httpx.AsyncClient, stage: Stage, name: str) -> None:
    store_answer(stage, runs=False)
    answer = await client.get(f"/v1/conversations/conv_ann/events?format={name}")
    assert (answer.status_code, answer.content) == (204, b"")


async def test_a_snapshot_begins_with_the_question(client: httpx.AsyncClient, stage: Stage) -> None:
    store_answer(stage, runs=False)
    answer = await client.get("/v1/conversations/conv_ann/events?answer=2&format=ag-ui")
    snapshot = json.loads(parse_frames(answer.text)[1]["data"])
    assert snapshot["messages"][0] == {"id": "conv_ann.1", "role": "user", "content": "When?"}


@pytest.mark.parametrize(
    ("text", "answer", "position"),
    [("2.7-t", 2, "7-t"), ("7-t", None, "7-t"), ("2.x", 2, None), ("x.7", None, None), ("", None, None), ("2.3.4", 2, None)],
)
def test_an_id_is_read_with_its_answer(text: str, answer: int | None, position: str | None) -> None:
    known = None if position is None else parse_position(position)
    assert parse_event_id(text) == (answer, known)

"""Conversations in archives: exported with all of their branches, imported under new ids, and trusted by nobody."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import httpx
import pytest

from ferryman.archives.reading import read_archive
from ferryman.domain.conversations.conversation import Conversation, PendingAnswer
from ferryman.domain.conversations.message import AnswerState, Attachment, Message, Speaker, select_branch
from ferryman.domain.executions.execution import Execution
from ferryman.domain.labels.label import OWNED, READ
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from ferryman.inmemory.clock import START

from .conftest import Stage
from .importing import (
    IMPORTS,
    Files,
    describe,
    import_archive,
    read_values,
    replace_line,
    send_files,
    take_apart,
)
from .test_events import finish
from .test_executions import started
from .test_export import default

HERE = derive_default_workspace("ann")
PLACE = {"owner": "ann", "workspace": HERE, "agent": derive_default_agent(HERE)}
CHATS, MESSAGES = "conversations-000001.jsonl", "messages-000001.jsonl"
RESULT = {"call": "c", "seq": 0, "name": "http_get", "ok": True, "content": "A page.", "parts": [["text", 0, 7]]}
TURN = {"text": "I look.", "calls": [{"id": "c", "name": "http_get", "arguments": {"url": "u"}}], "results": [RESULT]}
FILE = Attachment(key="a.md", etag="1", media_type="text/plain", size_bytes=3)
Change = Callable[[Files], Files]


def say(number: int, text: str, **fields: Any) -> Message:
    role = Speaker.USER if number % 2 else Speaker.ASSISTANT
    return Message(
        **{"conversation": "conv_1", "parent": number - 1, "at": START, **fields}, number=number, role=role, content=text
    )


@pytest.fixture
async def archive(client: httpx.AsyncClient, task: str, stage: Stage) -> bytes:
    """Ann's default workspace, with a conversation that has a branch, and an answer that is still waited for."""
    stage.memory.conversations.clear()
    stage.memory.messages.clear()
    execution = await started(client, task, input="And?")
    finish(stage.memory, execution)
    ended = replace(stage.memory.executions[execution], conversation="conv_1", question=3, answer=4)
    stage.memory.executions[execution] = ended
    pending = (PendingAnswer(8, "exec_pending"),)
    times = {"created_at": START, "updated_at": START}
    chat = Conversation(id="conv_1", task=task, title="Ferries", head=8, last=8, pending=pending, **times, **PLACE)
    stage.memory.conversations["conv_1"] = chat
    messages = (
        say(1, "Where?", person="person_1", attachments=(FILE,)),
        say(2, "In Harwich.", parts=(TURN,), label=READ, model="m", credits=Decimal("1.5")),
        say(3, "And?"),
        say(4, "Stop", execution=execution, state=AnswerState.STOPPED, summary="They talked.", summarized=2),
        say(5, "And the train?", parent=2),
        say(6, "In Ely.", state=AnswerState.FAILED, error="it failed"),
        say(7, "And the bus?"),
    )
    stage.memory.messages["conv_1"] = {message.number: message for message in messages}
    return (await client.get(default())).content


@pytest.fixture
async def bob(client: httpx.AsyncClient, archive: bytes, stage: Stage) -> httpx.AsyncClient:
    client.headers.update(stage.owner("bob"))
    return client


def find_chat(stage: Stage, workspace: str) -> Conversation:
    (chat,) = (chat for chat in stage.memory.conversations.values() if chat.workspace == workspace)
    return chat


def put(file: str, number: int = 0, /, **members: Any) -> Change:
    return lambda files: replace_line(files, file, number, lambda line: {**line, **members})


async def test_an_archive_has_conversations_and_their_messages(archive: bytes) -> None:
    manifest = read_archive(io.BytesIO(archive))
    assert (manifest.counts["conversations"], manifest.counts["messages"]) == (1, 7)


async def test_the_shown_branch_ends_with_an_answer_that_is_there(archive: bytes) -> None:
    (line,) = read_values(take_apart(archive)[1], "conversations")
    assert (line["head"], line["last"], line["title"]) == (6, 8, "Ferries")
    assert "pending" not in line


async def test_messages_are_those_that_were_exported(bob: httpx.AsyncClient, archive: bytes, stage: Stage) -> None:
    chat = find_chat(stage, await import_archive(bob, archive))
    stored = stage.memory.messages[chat.id]
    assert (chat.owner, chat.title, chat.head, chat.pending, chat.person) == ("bob", "Ferries", 6, (), "")
    same = {"conversation": chat.id, "label": READ, "person": ""}
    assert stored[2] == replace(stage.memory.messages["conv_1"][2], **same)
    assert stored[6] == replace(stage.memory.messages["conv_1"][6], **same)
    assert [message.number for message in select_branch(stored.values(), chat.head)] == [1, 2, 5, 6]


async def test_what_is_imported_is_trusted_by_nobody(bob: httpx.AsyncClient, archive: bytes, stage: Stage) -> None:
    assert stage.memory.messages["conv_1"][1].label == OWNED
    chat = find_chat(stage, await import_archive(bob, archive))
    assert {message.label for message in stage.memory.messages[chat.id].values()} == {READ}


async def test_an_answer_and_its_execution_name_each_other(bob: httpx.AsyncClient, archive: bytes, stage: Stage) -> None:
    workspace = await import_archive(bob, archive)
    chat = find_chat(stage, workspace)
    (execution,) = (item for item in stage.memory.executions.values() if item.workspace == workspace)
    assert isinstance(execution, Execution)
    assert (execution.conversation, execution.answer) == (chat.id, 4)
    assert stage.memory.messages[chat.id][4].execution == execution.id
    assert execution.restore().conversation == "conv_1"


async def test_the_execution_of_a_title_is_of_the_imported_conversation(
    client: httpx.AsyncClient, archive: bytes, task: str, stage: Stage
) -> None:
    assert read_archive(io.BytesIO(archive)).counts["executions"] == 1
    name = await started(client, task, input="Title it.")
    finish(stage.memory, name)
    titled = replace(stage.memory.executions[name], conversation="conv_1", titled_answer=2)
    stage.memory.executions[name] = titled
    whole = (await client.get(default())).content
    client.headers.update(stage.owner("bob"))
    workspace = await import_archive(client, whole)
    imported = [item for item in stage.memory.executions.values() if item.workspace == workspace and item.titled_answer]
    assert [item.conversation for item in imported] == [find_chat(stage, workspace).id]
    assert imported[0].restore().conversation == "conv_1"


async def test_what_is_exported_again_has_the_same_messages(bob: httpx.AsyncClient, archive: bytes) -> None:
    workspace = await import_archive(bob, archive)
    again = (await bob.get(f"/v1/workspaces/{workspace}/export")).content
    names = (
        "number",
        "parent",
        "role",
        "content",
        "parts",
        "attachments",
        "state",
        "error",
        "summary",
        "summarized",
        "credits",
    )
    before, after = (
        [{name: line[name] for name in names} for line in read_values(take_apart(whole)[1], "messages")]
        for whole in (archive, again)
    )
    assert after == before
    assert await import_archive(bob, again) != workspace


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (put(CHATS, head=9), "head: must not be above last"),
        (put(CHATS, id="../x"), "id"),
        (put(CHATS, title="x" * 101), "title"),
        (put(CHATS, owner="ann"), "owner"),
        (put(MESSAGES, parent=1), "parent, summarized: must be below number"),
        (put(MESSAGES, 3, summarized=4), "parent, summarized: must be below number"),
        (put(MESSAGES, number=0), "number"),
        (put(MESSAGES, role="system"), "role"),
        (put(MESSAGES, 1, parts=[{**TURN, "results": [{**RESULT, "parts": [["text", 0, 8]]}]}]), "parts: a part"),
        (put(MESSAGES, 1, parts=[{**TURN, "results": [{**RESULT, "parts": [["video", 0, 1]]}]}]), "parts"),
        (put(MESSAGES, 1, parts=[{**TURN, "more": 1}]), "more"),
        (put(MESSAGES, attachments=[FILE.key] * 11), "attachments"),
        (put(MESSAGES, conversation="conv_2"), "is none of the archive's"),
    ],
)
async def test_what_contradicts_itself_is_refused(bob: httpx.AsyncClient, archive: bytes, change: Change, where: str) -> None:
    begins, files = take_apart(archive)
    files = change(files)
    begun = await bob.post(IMPORTS, json=describe(begins, files))
    answer = await send_files(bob, begun.json()["workspace_id"], files)
    assert answer.status_code == 422
    assert where in str(answer.json()["errors"])


async def test_no_conversation_of_another_workspace_is_written_to(bob: httpx.AsyncClient, archive: bytes, stage: Stage) -> None:
    before = dict(stage.memory.messages["conv_1"])
    await import_archive(bob, archive)
    assert stage.memory.messages["conv_1"] == before
    assert stage.memory.conversations["conv_1"].owner == "ann"

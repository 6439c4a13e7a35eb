"""Past messages on both stores: found by their words as soon as they are stored, and in their workspace alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.conversations.asking import Question
from ferryman.domain.conversations.message import Message, Speaker
from ferryman.domain.executions.execution import Status
from ferryman.ports.executions import ExecutionEnding

from .conftest import Stores
from .test_chats import CHAT, WORKSPACE
from .values import EXECUTION, LATER, LEASE, NOW, OWNER, TASK


@pytest.fixture
async def stores(stores: Stores) -> Stores:
    await stores.owners.put(OWNER)
    await stores.tasks.create(TASK)
    for name in ("conv_1", "conv_2"):
        await stores.conversations.create(replace(CHAT, id=name))
    return stores


async def ask(stores: Stores, number: int, text: str, conversation: str = "conv_1") -> None:
    execution = replace(
        EXECUTION, id=f"exec_{number}", conversation=conversation, input=text, created_at=NOW + timedelta(seconds=number)
    )
    await stores.conversations.ask(replace(CHAT, id=conversation), Question(content=text), execution, most=100)


async def answer(stores: Stores, number: int, text: str) -> None:
    claimed, _ = await stores.executions.claim(f"exec_{number}", slice=0, holder="h", now=LATER, lease=LEASE)
    await stores.executions.finish(claimed, ExecutionEnding(status=Status.COMPLETED, output=text), now=LATER)


async def find(stores: Stores, *words: str, workspace: str = WORKSPACE, **options: str) -> list[tuple[str, int]]:
    hits = await stores.past_messages.find(words, workspace=workspace, **options)  # type: ignore[arg-type] # all are texts
    return [(hit.conversation, hit.number) for hit in hits]


async def test_a_question_and_its_answer_are_found_by_any_of_their_words_the_newest_first(stores: Stores) -> None:
    await ask(stores, 1, "Where does the ferry sail? 4711")
    await answer(stores, 1, "The ferry sails from Harwich.")
    assert await find(stores, "ferri", "harwich") == [("conv_1", 2), ("conv_1", 1)]
    assert await find(stores, "4711") == [("conv_1", 1)]
    assert await find(stores, "train") == []
    assert await find(stores) == []


async def test_a_hit_counts_its_words(stores: Stores) -> None:
    await ask(stores, 1, "Ferry, ferry, harbour!")
    (hit,) = await stores.past_messages.find(["ferri"], workspace=WORKSPACE)
    assert (dict(hit.counts), hit.total) == ({"ferri": 2, "harbour": 1}, 3)


async def test_the_messages_of_one_conversation_are_found_alone(stores: Stores) -> None:
    await ask(stores, 1, "ferry")
    await ask(stores, 2, "ferry", "conv_2")
    assert await find(stores, "ferri", conversation="conv_2") == [("conv_2", 1)]


async def test_nothing_of_another_workspace_is_found(stores: Stores) -> None:
    await ask(stores, 1, "ferry")
    assert await find(stores, "ferri", workspace="ws_other") == []


async def test_only_so_many_are_found_and_they_are_the_newest(stores: Stores) -> None:
    for number in range(1, 4):
        await ask(stores, number, f"ferry {number}", f"conv_{1 + number % 2}")
    hits = await stores.past_messages.find(["ferri"], workspace=WORKSPACE, most=2)
    assert [hit.at for hit in hits] == [NOW + timedelta(seconds=3), NOW + timedelta(seconds=2)]


async def test_an_imported_message_is_found(stores: Stores) -> None:
    message = Message(conversation="conv_1", number=1, parent=0, role=Speaker.USER, at=NOW, content="An old ferry.")
    conversation = replace(CHAT, id="conv_1", last=1, head=1)
    await stores.archives.add_conversations(
        [conversation], [message], owner="ann", workspace=WORKSPACE, ended_at=NOW, retention_days=None
    )
    assert await find(stores, "ferri") == [("conv_1", 1)]

"""Imported history: kept as it was put, read as any other, and in no queue, count or ledger."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud.firestore import Client

from ferryman.domain.archives.content import ExecutionParts
from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.conversations.message import Message, Speaker
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.executions.origin import Origin
from ferryman.domain.labels.label import READ
from ferryman.domain.receipts.receipt import Head, ReceiptKind
from ferryman.domain.workspaces.workspace import WorkspaceGoneError
from ferryman.ports.archives import ImportedHistory

from .conftest import Stores
from .values import ENTRY, NOW, OPENING, OWNER, POLICY, open_workspaces, receipts, turn

ORIGIN = Origin(workspace="ws_there", ids={"id": "exec_there", "task": "task_there", "owner": "bob"}, keys={"1": "ab" * 32})
IMPORTED = Execution(
    id="exec_here",
    task="task_1",
    owner="ann",
    workspace="ws_1",
    agent="agent_1",
    status=Status.COMPLETED,
    input="Paris",
    output="done",
    labels={"a": "b"},
    created_at=NOW,
    completed_at=NOW + timedelta(seconds=3),
    credits_used=Decimal("1.5"),
    imported_from=ORIGIN,
)
CHAIN = receipts(Head(), ReceiptKind.OPENED, ReceiptKind.CLOSED, execution="exec_there")[0]
TURN = turn()
PARTS = ExecutionParts(opening=OPENING, steps=[TURN.step], tickets=list(TURN.tickets), entries=[ENTRY], receipts=CHAIN)
HISTORY = ImportedHistory(name=IMPORTED.id, execution=replace(IMPORTED, policy=POLICY), parts=PARTS)
ENDED = {"owner": "ann", "workspace": "ws_1", "ended_at": NOW, "retention_days": None}


@pytest.fixture
async def stores(stores: Stores) -> Stores:
    await open_workspaces(stores, "ws_1")
    return stores


async def test_it_comes_back_as_it_was_put(stores: Stores) -> None:
    await stores.archives.add_history([HISTORY], **ENDED)
    assert await stores.executions.get(IMPORTED.id) == HISTORY.execution
    assert await stores.executions.opening(IMPORTED.id) == OPENING
    assert list(await stores.executions.steps(IMPORTED.id)) == PARTS.steps
    assert list(await stores.executions.tickets(IMPORTED.id)) == PARTS.tickets
    assert tuple(await stores.executions.receipts(IMPORTED.id)) == CHAIN
    assert list(await stores.archives.list_entries(IMPORTED.id)) == [ENTRY]


async def test_putting_it_again_changes_nothing(stores: Stores) -> None:
    await stores.archives.add_history([HISTORY], **ENDED)
    await stores.archives.add_history([HISTORY], **ENDED)
    assert await stores.executions.get(IMPORTED.id) == HISTORY.execution
    assert tuple(await stores.executions.receipts(IMPORTED.id)) == CHAIN
    assert list(await stores.archives.list_entries(IMPORTED.id)) == [ENTRY]


async def test_what_cannot_be_read_in_its_place_is_replaced(stores: Stores) -> None:
    elsewhere = Client(project="another", credentials=AnonymousCredentials()).document("a/b")
    await stores.ask(IMPORTED.id, {"task": elsewhere, "owner": elsewhere})
    await stores.archives.add_history([HISTORY], **ENDED)
    assert await stores.executions.get(IMPORTED.id) == HISTORY.execution


async def test_parts_that_come_later_are_added(stores: Stores) -> None:
    first = ImportedHistory(name=IMPORTED.id, execution=IMPORTED, parts=ExecutionParts(receipts=CHAIN[:1]))
    second = ImportedHistory(name=IMPORTED.id, policy=POLICY, parts=ExecutionParts(tickets=PARTS.tickets, receipts=CHAIN[1:]))
    await stores.archives.add_history([first], **ENDED)
    await stores.archives.add_history([second], **ENDED)
    assert await stores.executions.get(IMPORTED.id) == HISTORY.execution
    assert list(await stores.executions.tickets(IMPORTED.id)) == PARTS.tickets
    assert tuple(await stores.executions.receipts(IMPORTED.id)) == CHAIN


async def test_it_is_listed_in_its_workspace_alone(stores: Stores) -> None:
    await stores.archives.add_history([HISTORY], **ENDED)
    assert [(item.id, item.imported_from) for item in await stores.executions.list("ws_1")] == [(IMPORTED.id, ORIGIN)]
    assert list(await stores.executions.list("ws_there")) == []


async def test_it_asks_for_no_run_and_is_in_no_queue_or_ledger(stores: Stores) -> None:
    await stores.owners.put(OWNER)
    await stores.archives.add_history([HISTORY], **ENDED)
    assert list(await stores.executions.list_unfinished("ann")) == []
    assert list(await stores.executions.next_queued("ann", now=NOW)) == []
    assert list(await stores.ledger.of_execution(IMPORTED.id)) == []
    assert list(await stores.waiting()) == []


async def test_it_is_never_claimed_and_a_cancel_changes_nothing(stores: Stores) -> None:
    await stores.archives.add_history([HISTORY], **ENDED)
    lease = timedelta(minutes=2)
    _, is_claimed = await stores.executions.claim(IMPORTED.id, slice=0, holder="h", now=NOW, lease=lease)
    assert not is_claimed
    await stores.executions.cancel(IMPORTED.id, by="owner", now=NOW)
    assert await stores.executions.get(IMPORTED.id) == HISTORY.execution


@pytest.mark.parametrize("receipt", [0, 1])
async def test_receipts_are_found_from_each_number(stores: Stores, receipt: int) -> None:
    await stores.archives.add_history([HISTORY], **ENDED)
    assert tuple(await stores.executions.receipts(IMPORTED.id, first=receipt)) == CHAIN[receipt:]


async def test_conversations_come_back_as_they_were_put_also_a_second_time(stores: Stores) -> None:
    place = {"owner": "ann", "workspace": "ws_1", "agent": "agent_1"}
    chat = Conversation(id="conv_1", task="task_1", head=2, last=2, created_at=NOW, updated_at=NOW, **place)
    about = {"conversation": "conv_1", "at": NOW, "label": READ}
    question = Message(**about, number=1, parent=0, role=Speaker.USER, content="Where?")
    turn = {"text": "", "calls": [], "results": [{"parts": [["text", 0, 1]]}]}
    answer = Message(**about, number=2, parent=1, role=Speaker.ASSISTANT, content="There.", parts=(turn,))
    for _ in range(2):
        await stores.archives.add_conversations([chat], [], **ENDED)
        await stores.archives.add_conversations([], [question, answer], **ENDED)
    assert await stores.conversations.get("conv_1", owner="ann", workspace="ws_1") == chat
    assert list(await stores.conversations.list_messages("conv_1")) == [question, answer]


async def test_no_conversation_is_put_into_a_workspace_that_is_not_there(stores: Stores) -> None:
    chat = Conversation(id="conv_1", task="t", created_at=NOW, updated_at=NOW, owner="ann", workspace="ws_2", agent="a")
    with pytest.raises(WorkspaceGoneError):
        await stores.archives.add_conversations([chat], [], **{**ENDED, "workspace": "ws_2"})
    assert list(await stores.conversations.list("ann", "ws_2")) == []

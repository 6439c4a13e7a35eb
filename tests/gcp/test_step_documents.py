"""The documents of a step: its receipts are in it, or beside it where both would not fit into one document."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from ferryman.domain.receipts.receipt import Fact, Head, Receipt, ReceiptKind, append_receipts
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.owners import FirestoreOwners
from ferryman.gcp.tasks import FirestoreTasks
from ferryman.models.assembly import REPLY_BYTES_MAX
from ferryman.settings import Settings
from ferryman.stack.inventory import list_documents
from tests.contracts.values import ENTRY, EXECUTION, LEASE, NOW, OPENING, OWNER, POLICY, TASK, turn
from tests.emulator.firestore.conftest import Clock, serving

KINDS = (*[ReceiptKind.SETTLED] * 100, ReceiptKind.REPLIED, *[ReceiptKind.PLANNED] * 100)
"""As many as one turn has at most: a hundred calls have settled before it, and it asks for a hundred more."""


@pytest.fixture
async def clients() -> AsyncIterator[GoogleClients]:
    async with serving(clock=Clock()) as served:
        clients = GoogleClients(Settings(project="p", firestore_host=served.address))
        await FirestoreOwners(clients).put(OWNER)
        await FirestoreTasks(clients).create(TASK)
        yield clients
        await clients.close()


def sign(head: Head, *kinds: ReceiptKind) -> tuple[tuple[Receipt, ...], Head]:
    """Return entries as long as those of a run, chained on to `head`, and the head they lead to."""
    covers = {"calls/99": {}, "events/1098": {}, "events/1099": {}}
    facts = [Fact(kind, {"turn": 9, "seq": 99, "tool": "x" * 64, "outcome": "refused:rate_limited"}, covers) for kind in kinds]
    return append_receipts(head, facts, execution="exec_1", at=NOW, key=1, sign=lambda message: message * 2)


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        ("short", ["exec_1", "exec_1/steps/00000", "exec_1/steps/00001"]),
        (
            "ü" * (REPLY_BYTES_MAX // 2 - 100),
            ["exec_1", "exec_1/steps/00000", "exec_1/steps/00001", "exec_1/steps/receipts-000001"],
        ),
    ],
    ids=["short", "long"],
)
async def test_the_receipts_of_a_step_are_in_its_document_where_they_fit(
    clients: GoogleClients, words: str, calls: list[str]
) -> None:
    executions = FirestoreExecutions(clients)
    await executions.start(EXECUTION, most=1)
    execution, _ = await executions.claim("exec_1", slice=0, holder="h", now=NOW, lease=LEASE)
    opened, head = sign(Head(), ReceiptKind.OPENED)
    execution = replace(execution, policy=POLICY, events=1, receipts=head)
    await executions.open(execution, OPENING, entry=ENTRY, receipts=opened, now=NOW)
    signed, head = sign(head, *KINDS)
    commit = replace(turn(calls=0), receipts=signed)
    commit = replace(commit, step=replace(commit.step, content=({"type": "text", "text": words},)))
    await executions.commit(replace(execution, receipts=head), commit, now=NOW, lease=LEASE)
    paths = sorted(path.removeprefix("executions/") for path, _ in await list_documents(clients) if path.startswith("exec"))
    assert paths == calls
    assert await executions.opening("exec_1") == OPENING
    assert await executions.steps("exec_1") == [commit.step]
    assert await executions.receipts("exec_1") == [*opened, *signed]
    assert await executions.receipts("exec_1", first=150, most=3) == [*opened, *signed][150:153]

"""Values that the stores of the API's tests hold from the beginning: a job that is done, an import, an invitation's token."""

from __future__ import annotations

import hashlib

from ferryman.domain.conversations.chat_task import derive_chat_task
from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.conversations.message import Message, Speaker
from ferryman.domain.jobs.deletion_receipt import DeletionReceipt
from ferryman.domain.jobs.job import Job, JobKind, JobStatus
from ferryman.domain.receipts.receipt import format_moment
from ferryman.domain.workspaces.imports import ArchiveImport
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from ferryman.inmemory.clock import START
from ferryman.vault import sign

SIGNING = sign.generate_private_key()


def build_job(owner: str) -> Job:
    """Return a job of `owner` that has deleted a workspace."""
    where = {"workspace": "ws_gone", "subject": "ws_gone"}
    receipt = DeletionReceipt(
        **where,
        **{"job": f"job_{owner}", "kind": "delete_workspace", "person": "", "key": 1},
        counts={"tasks": 2, "workspaces": 1},
        requested_at=format_moment(START),
        completed_at=format_moment(START),
    ).sign(sign.SigningKey(1, SIGNING).sign)
    ended = {"status": JobStatus.DONE, "counts": {"tasks": 2}, "completed_at": START, "receipt": receipt}
    return Job(**where, **ended, id=f"job_{owner}", owner=owner, kind=JobKind.DELETE_WORKSPACE, created_at=START)


def build_conversation(owner: str) -> tuple[Conversation, tuple[Message, Message]]:
    """Return a conversation of `owner` with the default agent, and its messages: a question, and the answer to it."""
    workspace = derive_default_workspace(owner)
    agent = derive_default_agent(workspace)
    place = {"owner": owner, "workspace": workspace, "agent": agent, "task": derive_chat_task(agent)}
    name = f"conv_{owner}"
    conversation = Conversation(id=name, **place, title="Ferries", head=2, last=2, created_at=START, updated_at=START)
    question = Message(conversation=name, number=1, parent=0, role=Speaker.USER, at=START, content="When?")
    answer = Message(conversation=name, number=2, parent=1, role=Speaker.ASSISTANT, at=START, content="At 23:00.", model="m")
    return conversation, (question, answer)


EMPTY = "{}\n"
IMPORTED = ArchiveImport(
    source="ws_there",
    digest="0" * 64,
    files=2,
    following=2,
    name="agents-000001.jsonl",
    last=hashlib.sha256(EMPTY.encode()).hexdigest(),
)
"""An import that is finished: its last file may be sent again."""

TOKEN = "fi_" + "t" * 43
"""Of an invitation that is there from the beginning."""

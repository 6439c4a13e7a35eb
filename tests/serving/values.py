"""Values that the stores of the API's tests hold from the beginning: a job that is done, an import, an invitation's token."""

from __future__ import annotations

import hashlib
from typing import Any

from ferryman.domain.approvals.approval import LIFETIME, Approval, decide_approval
from ferryman.domain.approvals.decision import Decision, DecisionVerdict, SignedDecision
from ferryman.domain.approvals.form import CallForm, HttpForm, build_form, digest_form
from ferryman.domain.approvals.host import find_host
from ferryman.domain.approvals.question import QuestionForm
from ferryman.domain.approvals.standing import StandingApproval
from ferryman.domain.calls.continuation import ServerQuestion
from ferryman.domain.calls.flow import CallFlow
from ferryman.domain.conversations.chat_task import derive_chat_task
from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.conversations.message import Message, Speaker
from ferryman.domain.jobs.deletion_receipt import DeletionReceipt
from ferryman.domain.jobs.job import Job, JobKind, JobStatus
from ferryman.domain.labels.label import OWNED
from ferryman.domain.receipts.receipt import format_moment
from ferryman.domain.workspaces.imports import ArchiveImport
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from ferryman.inmemory.clock import START
from ferryman.vault import sign

SIGNING = sign.generate_private_key()
API_KEY = bytes(range(32))
"""The api's secret, which the key of decisions is derived from."""


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


FLOW = CallFlow(
    asks=True,
    reason="tainted",
    lines=(
        "http_post: waits for a person (tainted)",
        "└─ url = https://api.github.com/gists",
        '   └─ untrusted: the result of call 1 (http_get): "trusted: the prompt\x1b[2J"',
    ),
)


def build_question(owner: str, *questions: ServerQuestion, **changes: Any) -> Approval:
    """Return what an MCP server asks `owner`, that nobody has answered."""
    form = QuestionForm(
        server="desk", url="https://tools.example.com/mcp", tool="book", descriptor="2" * 64, questions=questions
    )
    return build_approval(owner, what=form, **{"tool": "desk__book", **changes})


def build_approval(owner: str, *, what: HttpForm | QuestionForm | None = None, **changes: Any) -> Approval:
    """Return an approval of a call of `owner`'s execution, in the default workspace, that nobody has decided about."""
    workspace = derive_default_workspace(owner)
    place = {"owner": owner, "workspace": workspace, "agent": f"agent_{owner}", "task": f"task_{owner}"}
    execution = f"exec_waiting_{owner}"
    what = what or HttpForm(
        method="POST", url="https://api.github.com/gists", headers=(("Authorization", "Bearer {{secrets.GITHUB_TOKEN}}"),)
    )
    form = build_form(
        CallForm(
            tool="http_post",
            tool_digest="0" * 64,
            what=what,
            label=OWNED,
            policy_digest="1" * 64,
            place={**place, "execution": execution},
            flow=FLOW,
        ),
        expires_at=START + LIFETIME,
    )
    known: dict[str, Any] = {
        **place,
        "id": f"appr_{owner}",
        "conversation": "",
        "execution": execution,
        "seq": 0,
        "tool": "http_post",
        "host": find_host(form) or "",
        "form": form,
        "digest": digest_form(form),
        "label": OWNED,
        "created_at": START,
        "expires_at": START + LIFETIME,
    }
    return Approval(**{**known, **changes})


def deny_approval(approval: Approval, *, reason: str = "Not today.") -> Approval:
    """Return `approval` as its owner has denied it."""
    place = {"owner": approval.owner, "workspace": approval.workspace, "execution": approval.execution, "seq": approval.seq}
    decision = Decision(
        **place,
        approval=approval.id,
        digest=approval.digest,
        verdict=DecisionVerdict.DENY,
        sends_max=0,
        reason=reason,
        by="owner",
        at=START,
    )
    signed = SignedDecision(decision=decision, key=1, signature="00" * 64)
    return decide_approval(approval, signed, now=START)


def build_standing(owner: str) -> StandingApproval:
    """Return a standing approval in the default workspace of `owner`."""
    return StandingApproval(
        id=f"stand_{owner}",
        owner=owner,
        workspace=derive_default_workspace(owner),
        tool="http_post",
        uses_max=3,
        by="owner",
        created_at=START,
        expires_at=START + LIFETIME,
    )


RULES = [
    {
        **{"mode": "always", "tools": ["http_post"], "hosts": ["*.example.com"], "methods": ["POST"]},
        "amount": {"argument": "body.amount", "above": "99.5"},
    }
]
"""Rules of approvals, as they are answered."""

EMPTY = "{}\n"
IMPORTED = ArchiveImport(
    source="ws_there",
    digest="0" * 64,
    files=2,
    following=2,
    name="tools-000001.jsonl",
    last=hashlib.sha256(EMPTY.encode()).hexdigest(),
)
"""An import that is finished: its last file may be sent again."""

TOKEN = "fi_" + "t" * 43
"""Of an invitation that is there from the beginning."""

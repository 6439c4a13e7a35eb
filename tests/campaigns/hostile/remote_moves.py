"""Moves about a question of an MCP server: attempts to have it answered by anybody but the person who is asked."""

from __future__ import annotations

import json
from typing import Any

from ferryman.domain.approvals.approval import Approval, ApprovalState
from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.domain.copies import replace as copy
from tests.campaigns.hostile.spelling import fill
from tests.campaigns.hostile.waiting import Move, Waiting, approve, forge


def store_answer(content: Any, **fields: Any) -> Move:
    """Return the move of writing an answer into the store that a stranger's key has signed."""

    async def move(waiting: Waiting, approval: Approval) -> None:
        edited = json.dumps({"a": content})
        signed = forge(approval, verdict=DecisionVerdict.ANSWER, edited=edited, **fields)
        await waiting.put(copy(approval, state=ApprovalState.ANSWERED, decided=signed))

    return move


async def store_approval(waiting: Waiting, approval: Approval) -> None:
    """Write an approval of a call into the store where an answer is due."""
    await waiting.put(approve(approval, forge(approval)))


def try_answer(content: Any, **fields: Any) -> Move:
    """Return the move of answering through the API, whatever it says to that."""

    async def move(waiting: Waiting, approval: Approval) -> None:
        body = {"verdict": "answer", "digest": approval.digest, "arguments": {"a": fill(content, waiting.words)}, **fields}
        await waiting.ask("POST", f"/v1/approvals/{approval.id}/decision", body)

    return move


async def approve_call(waiting: Waiting, approval: Approval) -> None:
    """Approve what is no call, whatever the API says to that."""
    body = {"verdict": "approve", "digest": approval.digest}
    await waiting.ask("POST", f"/v1/approvals/{approval.id}/decision", body)

"""Decisions of people about calls that wait: what is signed by the api, and verified by the function that sends the call."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

import rfc8785

from ferryman.domain.receipts.receipt import format_moment

DOMAIN = b"ferryman/decision/1\n"
"""What is signed begins with it, so that no other signature of the key is a decision."""

REASON_CHARACTERS_MAX = 1_000


class DecisionVerdict(StrEnum):
    """What a person decides."""

    APPROVE = "approve"
    DENY = "deny"
    EDIT = "edit"
    """The call is made with other arguments: a new request, which is asked about itself."""
    ANSWER = "answer"
    """What an MCP server asked is answered, and it goes on with the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision about one approval, for the form with this `digest` alone.

    `by` is the person's id, or `OWNER` (domain.executions.execution) for the owner's own key. `sends_max` is for how many sends
    of the same form it is, 0 where nothing may be sent. `reason` is the person's, which the model reads; `edited` the arguments
    of an edit, or the answers to a server, as JSON, "" for none; `declassified` a value that counts as a person's from the
    next turn on, "" for none.
    """

    approval: str
    digest: str
    owner: str
    workspace: str
    execution: str
    seq: int
    verdict: DecisionVerdict
    sends_max: int
    reason: str = field(default="", repr=False)
    edited: str = field(default="", repr=False)
    declassified: str = field(default="", repr=False)
    by: str
    at: datetime

    def says_same(self, other: Decision) -> bool:
        """Tell whether `other` decides the same about the same form, by anybody, at any time."""
        return _list_said(self) == _list_said(other)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedDecision:
    """A decision with its signature (Ed25519, hex) by version `key` of the api's key for decisions."""

    decision: Decision
    key: int
    signature: str


def encode_decision(decision: Decision) -> bytes:
    """Return the bytes that are signed: `DOMAIN` and the canonical JSON (RFC 8785) of everything that the decision says."""
    value: dict[str, Any] = {
        "approval": decision.approval,
        "digest": decision.digest,
        "owner": decision.owner,
        "workspace": decision.workspace,
        "execution": decision.execution,
        "seq": decision.seq,
        "verdict": decision.verdict.value,
        "sends_max": decision.sends_max,
        "reason": _digest(decision.reason),
        "edited": _digest(decision.edited),
        "declassified": _digest(decision.declassified),
        "by": decision.by,
        "at": format_moment(decision.at),
    }
    return DOMAIN + rfc8785.dumps(value)


def _list_said(decision: Decision) -> tuple[object, ...]:
    about = (decision.approval, decision.digest, decision.verdict, decision.sends_max)
    return (*about, decision.edited, decision.declassified)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

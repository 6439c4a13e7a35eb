"""The canonical form (RFC 8785) of what a call would send, with every secret named in the place of its value, and its hash.

What is in it is all that a person approves, and nothing that may change by itself: of a token that is renewed, the grant is in
it. Another byte anywhere is another hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import rfc8785

from ferryman.domain.approvals.question import QuestionForm
from ferryman.domain.calls.flow import CallFlow
from ferryman.domain.json_tree import map_leaves
from ferryman.domain.labels.label import FlowLabel
from ferryman.domain.receipts.receipt import format_moment

DOMAIN = b"ferryman/approval/1\n"

INTEGERS_END = 2**53
"""From here on JSON has no integers that every reader reads alike."""


class UnwritableFormError(ValueError):
    """What would be sent has no canonical form (RFC 8785), such as an integer beyond 2**53. The text names no value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpForm:
    """An HTTP request about to leave: `headers` as (name, value), in order, with each secret as `{{secrets.NAME}}`.

    `body` is its text, or base64 where `is_binary`; `body_sha256` is of its bytes with the secrets named. `credentials` are the
    grants that it uses, by name: each says what identifies the grant, and stays the same when a token is renewed.
    """

    method: str
    url: str = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    body: str | None = field(default=None, repr=False)
    is_binary: bool = False
    body_sha256: str = ""
    credentials: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the request as it is hashed, and shown."""
        return {
            "kind": "http",
            "method": self.method,
            "url": self.url,
            "headers": [list(pair) for pair in self.headers],
            "body": self.body,
            "is_binary": self.is_binary,
            "body_sha256": self.body_sha256,
            "credentials": dict(self.credentials),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectForm:
    """An effect that is no HTTP request: the `arguments` as they are executed, the `target`, and its `version`, where it has
    one."""

    arguments: Mapping[str, Any] = field(repr=False)
    target: str = ""
    version: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the effect as it is hashed, and shown."""
        return {"kind": "effect", "arguments": dict(self.arguments), "target": self.target, "version": self.version}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallForm:
    """What one call would do, and under what: everything that a decision is bound to but its expiry.

    `tool_digest` and `policy_digest` are of the tool's definition and of the execution's frozen policy; `place` has the ids of
    owner, workspace, agent, task and execution. `flow` says where each argument that decides came from, None where that was not
    judged.
    """

    tool: str
    tool_digest: str
    what: HttpForm | EffectForm | QuestionForm
    label: FlowLabel
    policy_digest: str
    place: Mapping[str, str]
    flow: CallFlow | None = None


def build_form(form: CallForm, *, expires_at: datetime) -> str:
    """Return the canonical form as text. Raise `UnwritableFormError`."""
    label, flow = form.label, form.flow
    value: dict[str, Any] = {
        "tool": form.tool,
        "tool_digest": form.tool_digest,
        "what": form.what.to_json(),
        "label": {
            "integrity": label.integrity.value,
            "confidentiality": label.confidentiality.value,
            "sources": [[source.tool, source.call, source.url, source.credential] for source in label.sources],
            "more": label.more,
        },
        "flow": None if flow is None else {"asks": flow.asks, "reason": flow.reason, "lines": list(flow.lines)},
        "policy": form.policy_digest,
        "place": dict(form.place),
        "expires_at": format_moment(expires_at),
    }
    try:
        return rfc8785.dumps(value).decode()
    except (rfc8785.CanonicalizationError, UnicodeError) as error:
        raise UnwritableFormError(f"what would be sent has no canonical form: {type(error).__name__}") from None


def restore_form(value: Mapping[str, Any]) -> str:
    """Return a canonical form again that was read as JSON, for its text. Raise `UnwritableFormError`.

    An integer beyond 2**53 is how a float of that size is written.
    """
    try:
        return rfc8785.dumps(map_leaves(value, _restore_number)).decode()
    except (rfc8785.CanonicalizationError, UnicodeError, RecursionError) as error:
        raise UnwritableFormError(f"this is no canonical form: {type(error).__name__}") from None


def _restore_number(leaf: Any) -> Any:
    return float(leaf) if isinstance(leaf, int) and abs(leaf) >= INTEGERS_END else leaf


def digest_form(form: str) -> str:
    """Return the SHA-256 of a canonical form, separated from every other use of the hash, in hex."""
    return hashlib.sha256(DOMAIN + form.encode()).hexdigest()

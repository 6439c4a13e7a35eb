"""Standing approvals: what a person approves beforehand, for a time and for a number of calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import rfc8785

from ferryman.domain.approvals.approval import ApprovalDecidedError
from ferryman.domain.approvals.rules import CallFacts
from ferryman.domain.copies import replace
from ferryman.domain.http.host import is_covered
from ferryman.domain.receipts.receipt import format_moment
from ferryman.domain.tools.names import names_tool

DOMAIN = b"ferryman/standing-approval/1\n"
USES_LIMIT = 500
STANDING_PER_WORKSPACE_MAX = 100
DAYS_MAX = 365
"""How long a standing approval holds at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingApproval:
    """A call of `tool` that `hosts`, `methods` and `arguments` cover needs no further decision, until `expires_at`.

    `arguments` is a JSON object of arguments that have to be equal, the others may be any. `task` limits it to one task; ""
    for all of the workspace. `used` are the calls that were sent under it, as `EXECUTION/SEQ`, at most `uses_max`. It is signed
    as decisions are; `used` and `revoked` are not covered by the signature. `fingerprint` is that of a declared tool as it was
    then, "" for a built-in one: a tool that is declared otherwise is another one.
    """

    id: str
    owner: str
    workspace: str
    task: str = ""
    tool: str
    fingerprint: str = ""
    hosts: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    arguments: str = field(default="{}", repr=False)
    uses_max: int
    by: str
    created_at: datetime
    expires_at: datetime
    key: int = 0
    signature: str = ""
    used: tuple[str, ...] = ()
    revoked: bool = False

    def is_over(self, now: datetime) -> bool:
        """Tell whether it approves nothing any longer: it was revoked, its time is over, or every use is taken."""
        return self.revoked or now >= self.expires_at or len(self.used) >= self.uses_max

    def covers(self, facts: CallFacts, *, task: str, now: datetime) -> bool:
        """Tell whether a call of this `task` is one of those that it approves, were its uses not all used."""
        return (
            not self.revoked
            and now < self.expires_at
            and self.task in ("", task)
            and any(names_tool((self.tool,), name) for name in facts.tools)
            and (not self.hosts or (facts.host is not None and is_covered(self.hosts, facts.host)))
            and (not self.methods or (facts.method or "").upper() in self.methods)
            and _has_arguments(json.loads(self.arguments), facts.arguments)
        )


def use_standing(standing: StandingApproval, execution: str, seq: int) -> StandingApproval:
    """Return it with one use taken by a call; unchanged where that has one. Raise `ApprovalDecidedError` where none is left."""
    name = f"{execution}/{seq}"
    if name in standing.used:
        return standing
    if standing.revoked or len(standing.used) >= standing.uses_max:
        raise ApprovalDecidedError("every use of the standing approval is taken, or it was revoked")
    return replace(standing, used=(*standing.used, name))


def encode_standing(standing: StandingApproval) -> bytes:
    """Return the bytes that are signed: everything of it but its signature, its uses, and whether it was revoked."""
    value: dict[str, Any] = {
        "id": standing.id,
        "owner": standing.owner,
        "workspace": standing.workspace,
        "task": standing.task,
        "tool": standing.tool,
        "fingerprint": standing.fingerprint,
        "hosts": list(standing.hosts),
        "methods": list(standing.methods),
        "arguments": standing.arguments,
        "uses_max": standing.uses_max,
        "by": standing.by,
        "created_at": format_moment(standing.created_at),
        "expires_at": format_moment(standing.expires_at),
    }
    return DOMAIN + rfc8785.dumps(value)


def _has_arguments(expected: Mapping[str, Any], arguments: Mapping[str, Any]) -> bool:
    return all(name in arguments and _is_same(arguments[name], value) for name, value in expected.items())


def _is_same(value: Any, expected: Any) -> bool:
    # as JSON, so that true is not 1
    return json.dumps(value, sort_keys=True) == json.dumps(expected, sort_keys=True)

"""Approvals: calls that wait for a person, what is decided about them, and what is approved beforehand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ferryman.client import answers
from ferryman.client.request import AnswerPage, ApiRequest, build_path, delete, get, post, read_as, read_page


def list_approvals(
    *, state: str | None = None, execution: str | None = None, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.ListedApprovalJson]]:
    """Return a page of the workspace's approvals, newest first: those in one state, or of one execution.

    What each would send is in its own record.
    """
    reading = read_page("approvals")
    return get(build_path("approvals"), reading, state=state, execution=execution, limit=limit, cursor=cursor)


def get_approval(approval: str) -> ApiRequest[answers.ApprovalJson]:
    """Return one approval with the form of exactly what would be sent, and the one that was approved before."""
    return get(build_path("approvals", approval), read_as(answers.ApprovalJson))


def decide_approval(
    approval: str,
    verdict: str,
    digest: str,
    *,
    sends: int = 1,
    reason: str = "",
    arguments: Mapping[str, Any] | None = None,
    declassify: str = "",
    key: str | None = None,
) -> ApiRequest[answers.ApprovalJson]:
    """Decide about a call that waits: `approve`, `deny` or `edit`. `digest` is that of the form that the person was shown.

    `sends` is for how many sends of the same form an approval is, `reason` what the model reads, and `arguments` are all of
    those of the call that an edit makes instead. `declassify` is a value that the form shows as untrusted: with an approval it
    counts as a person's in later turns of the execution.
    """
    body: dict[str, Any] = {"verdict": verdict, "digest": digest, "sends": sends, "reason": reason}
    if arguments is not None:
        body["arguments"] = dict(arguments)
    if declassify:
        body["declassify"] = declassify
    return post(build_path("approvals", approval, "decision"), read_as(answers.ApprovalJson), body, key=key)


def list_decision_keys() -> ApiRequest[dict[str, str]]:
    """Return the public keys that decisions are verified with, by version, in hex."""
    return get(build_path("decision-keys"), lambda document: dict(document["keys"]))


def create_standing_approval(
    tool: str,
    uses: int,
    expires_in_days: int,
    *,
    task: str | None = None,
    hosts: Sequence[str] = (),
    methods: Sequence[str] = (),
    arguments: Mapping[str, Any] | None = None,
    key: str | None = None,
) -> ApiRequest[answers.StandingApprovalJson]:
    """Approve beforehand so many calls of a tool that every list which is not empty covers; `arguments` have to be equal."""
    body = {
        **{"tool": tool, "uses": uses, "expires_in_days": expires_in_days, "task_id": task},
        **{"hosts": list(hosts), "methods": list(methods), "arguments": dict(arguments or {})},
    }
    return post(build_path("standing-approvals"), read_as(answers.StandingApprovalJson), body, key=key)


def list_standing_approvals(
    *, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.StandingApprovalJson]]:
    """Return a page of what is approved beforehand in the workspace."""
    return get(build_path("standing-approvals"), read_page("standing_approvals"), limit=limit, cursor=cursor)


def delete_standing_approval(standing_approval: str) -> ApiRequest[None]:
    """Revoke a standing approval: nothing more is sent under it."""
    return delete(build_path("standing-approvals", standing_approval))

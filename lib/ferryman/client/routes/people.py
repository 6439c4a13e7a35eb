"""People: members, invitations, API keys, and who changed what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ferryman.client import answers
from ferryman.client.request import (
    AnswerPage,
    ApiRequest,
    build_path,
    delete,
    delete_by_job,
    generate_secret,
    get,
    patch,
    post,
    read_as,
    read_page,
)


def list_members(*, limit: int | None = None, cursor: str | None = None) -> ApiRequest[AnswerPage[answers.MemberJson]]:
    """Return a page of the members of the workspace."""
    return get(build_path("members"), read_page("members"), limit=limit, cursor=cursor)


def get_member(person: str) -> ApiRequest[answers.MemberJson]:
    """Return one member."""
    return get(build_path("members", person), read_as(answers.MemberJson))


def change_member(person: str, change: Mapping[str, Any]) -> ApiRequest[answers.MemberJson]:
    """Change a member's role, right to approve, or limit of credits."""
    return patch(build_path("members", person), read_as(answers.MemberJson), change)


def delete_member(person: str, *, executions: str = "end") -> ApiRequest[answers.JobJson]:
    """Remove a member, or leave; return the job by which the executions that they started end (`executions="end"`), or that
    hands them over to you ("take_over")."""
    return delete_by_job(build_path("members", person), read_as(answers.JobJson), executions=executions)


def create_invitation(
    name: str, role: str, *, approves: bool = False, key: str | None = None
) -> ApiRequest[answers.NewInvitationJson]:
    """Invite somebody; `token` is for them alone, None in the answer to a retry; `key` is an idempotency key of yours."""
    body = {"name": name, "role": role, "approves": approves}
    return post(build_path("invitations"), read_as(answers.NewInvitationJson), body, key=key)


def list_invitations(*, limit: int | None = None, cursor: str | None = None) -> ApiRequest[AnswerPage[answers.InvitationJson]]:
    """Return a page of the invitations that nobody has taken yet."""
    return get(build_path("invitations"), read_page("invitations"), limit=limit, cursor=cursor)


def delete_invitation(invitation: str) -> ApiRequest[None]:
    """Withdraw an invitation."""
    return delete(build_path("invitations", invitation))


def join_workspace(token: str, *, secret: str | None = None) -> ApiRequest[answers.JoinedJson]:
    """Take an invitation: become a member, with an API key of your own. A token is good once.

    The same token with the same `secret`, 43 characters of base64url that nobody else knows, is answered with the same key
    again; without one it is drawn, and serves the attempts of this call.
    """
    body = {"token": token, "secret": secret or generate_secret()}
    return ApiRequest(method="POST", path=build_path("join"), read=read_as(answers.JoinedJson), body=body, repeatable=True)


def create_key(
    name: str,
    *,
    scopes: Sequence[str] | None = None,
    tools: Sequence[str] | None = None,
    expires_in_days: int | None = None,
    idempotency_key: str | None = None,
) -> ApiRequest[answers.NewKeyJson]:
    """Make an API key of your own for the workspace, with at most the rights and the time of the one that asks.

    `tools` narrows it to tools at /mcp, by name or as "category:search"; elsewhere it then only
    reads. Its `key` is None in the answer to a retry.
    """
    body: dict[str, Any] = {"name": name, "expires_in_days": expires_in_days}
    body |= {"scopes": None if scopes is None else list(scopes), "tools": None if tools is None else list(tools)}
    return post(build_path("keys"), read_as(answers.NewKeyJson), body, key=idempotency_key)


def list_keys(
    *, everybody: bool = False, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.KeyJson]]:
    """Return a page of your API keys for the workspace, or of those of everybody."""
    return get(build_path("keys"), read_page("keys"), everybody=everybody or None, limit=limit, cursor=cursor)


def delete_key(key: str) -> ApiRequest[None]:
    """Revoke an API key, by its id."""
    return delete(build_path("keys", key))


def link_identity(access_token: str, *, key: str | None = None) -> ApiRequest[answers.IdentityJson]:
    """Link the identity that `access_token` is of with you: access tokens of it act for you at /mcp, and nowhere else.

    `key` is an idempotency key of yours.
    """
    return post(build_path("identities"), read_as(answers.IdentityJson), {"access_token": access_token}, key=key)


def list_identities(*, limit: int | None = None, cursor: str | None = None) -> ApiRequest[AnswerPage[answers.IdentityJson]]:
    """Return a page of the identities that are linked with you in the workspace."""
    return get(build_path("identities"), read_page("identities"), limit=limit, cursor=cursor)


def delete_identity(identity: str) -> ApiRequest[None]:
    """End the link of an identity, by its id."""
    return delete(build_path("identities", identity))


def list_audit_entries(
    *, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.AuditEntryJson]]:
    """Return a page of who changed what in the workspace, the newest first."""
    return get(build_path("audit-entries"), read_page("entries"), limit=limit, cursor=cursor)

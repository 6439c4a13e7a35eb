"""Members of the victim's workspace who attack it: brought in by the victim's own key, each with an API key of its own."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ferryman.domain.workspaces.member import Role
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from ferryman.domain.workspaces.person import INVITATION_LIFETIME, Invitation
from ferryman.gcp.api_keys import FirestoreApiKeys
from ferryman.gcp.invitations import FirestoreInvitations
from ferryman.serving import keys
from tests.campaigns.hostile.harness import Harness
from tests.campaigns.hostile.member import Member

HEADER = "Ferryman-Workspace"


def describe_place(token: str) -> dict[str, str]:
    """Return the words for the default workspace of the owner of a run, and its agent."""
    workspace = derive_default_workspace(f"owner-{token}")
    return {"vworkspace": workspace, "vagent": derive_default_agent(workspace)}


async def bring_in(harness: Harness, bearer: dict[str, str], member: Member, words: dict[str, str]) -> str:
    """Have somebody join as `member` says; add words for the person and its key, and return the API key that asks."""
    place = dict(bearer)
    if member.elsewhere:
        place[HEADER] = (await _ask(harness, "POST", "/v1/workspaces", bearer, {"name": "Elsewhere"}))["workspace_id"]
    invitation = {"name": member.name, "role": member.role}
    token = (await _ask(harness, "POST", "/v1/invitations", place, invitation))["token"]
    joined = await _ask(harness, "POST", "/v1/join", {}, {"token": token})
    key, person = str(joined["key"]), str(joined["person_id"])
    words |= {f"{member.name}_person": person, f"{member.name}_key": joined["key_id"], f"{member.name}_token": token}
    bearing = {"Authorization": f"Bearer {key}"}
    if member.scopes is not None:
        key = str((await _ask(harness, "POST", "/v1/keys", bearing, {"name": "narrow", "scopes": member.scopes}))["key"])
    if member.ends == "revoked":
        await _ask(harness, "DELETE", f"/v1/keys/{joined['key_id']}", place)
    if member.ends == "removed":
        await _ask(harness, "DELETE", f"/v1/members/{person}", place)
    if member.ends == "expired":
        key, words[f"{member.name}_late"] = await _add_expired(harness, key)
    return key


async def _add_expired(harness: Harness, text: str) -> tuple[str, str]:
    """Return another key of the same person, and the token of an invitation, which both ended a second ago: the API makes none
    that lives for less than a day."""
    stored, another = FirestoreApiKeys(harness.clients), keys.generate_key()
    known = await stored.find(keys.digest_key(text))
    assert known is not None, "it was just made"
    now, token = datetime.now(UTC), keys.generate_token()
    late = now - timedelta(seconds=1)
    await stored.create(keys.digest_key(another), replace(known, id=f"{known.id}x", expires_at=late))
    invitation = Invitation(
        id=f"inv_{known.id}",
        owner=known.owner,
        workspace=known.workspace,
        name="late",
        role=Role.ADMIN,
        invited_by="",
        created_at=late - INVITATION_LIFETIME,
        expires_at=late,
    )
    await FirestoreInvitations(harness.clients).create(keys.digest_key(token), invitation, now=late)
    return another, token


async def _ask(harness: Harness, method: str, path: str, headers: dict[str, str], body: Any = None) -> Any:
    answer = await harness.http.request(method, harness.url + path, json=body, headers=headers)
    assert answer.is_success, f"{method} {path} answered {answer.status_code}: {answer.text[:200]}"
    return answer.json() if answer.content else None

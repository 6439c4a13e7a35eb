"""Standing approvals over HTTP: what is approved beforehand, by whom, within which limits."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from ferryman.domain.approvals.standing import STANDING_PER_WORKSPACE_MAX, encode_standing
from ferryman.domain.workspaces.member import Role
from ferryman.vault.decision_keys import derive_decision_public_key

from .conftest import Stage
from .values import API_KEY

NEW = {
    **{"tool": "http_post", "hosts": ["*.github.com"], "methods": ["POST"], "arguments": {"n": 1}},
    **{"uses": 2, "expires_in_days": 7},
}


async def create(client: httpx.AsyncClient, headers: dict[str, str] | None = None, **fields: Any) -> httpx.Response:
    return await client.post("/v1/standing-approvals", json={**NEW, **fields}, headers=headers)


async def test_it_is_answered_with_every_field_and_signed(client: httpx.AsyncClient, stage: Stage, task: str) -> None:
    answer = await create(client, task_id=task)
    body = answer.json()
    assert (answer.status_code, answer.headers["location"]) == (201, f"/v1/standing-approvals/{body['standing_approval_id']}")
    assert {
        name: body[name] for name in ("tool", "hosts", "methods", "arguments", "uses", "used", "by", "revoked", "task_id")
    } == {
        **{"tool": "http_post", "hosts": ["*.github.com"], "methods": ["POST"], "arguments": {"n": 1}, "uses": 2, "used": 0},
        **{"by": "owner", "revoked": False, "task_id": task},
    }
    assert (body["created_at"], body["expires_at"]) == ("2026-11-21T12:00:00Z", "2026-11-28T12:00:00Z")
    stored = stage.memory.standing_approvals[body["standing_approval_id"]]
    public = Ed25519PublicKey.from_public_bytes(derive_decision_public_key(API_KEY))
    public.verify(bytes.fromhex(stored.signature), encode_standing(stored))


BAD = [
    ({"tool": "a b"}, "tool"),
    ({"uses": 0}, "uses"),
    ({"uses": 501}, "uses"),
    ({"expires_in_days": 366}, "expires_in_days"),
    ({"hosts": ["*"]}, "hosts.0"),
    ({"hosts": ["a.test"] * 21}, "hosts"),
    ({"methods": ["post"]}, "methods.0"),
    ({"arguments": {"a": "x" * 10_001}}, "arguments"),
    ({"task_id": "task_none"}, "task_id"),
    ({"by": "person_1"}, "by"),
    ({"tool": "refund"}, "task_id"),
]


@pytest.mark.parametrize(("fields", "field"), BAD)
async def test_what_is_not_accepted_is_named(client: httpx.AsyncClient, fields: dict[str, Any], field: str) -> None:
    answer = await create(client, **fields)
    assert (answer.status_code, [problem["field"] for problem in answer.json()["errors"]]) == (422, [field])


@pytest.mark.parametrize("role", Role)
async def test_no_role_approves_beforehand(client: httpx.AsyncClient, stage: Stage, role: Role) -> None:
    headers = stage.member(role)
    assert (await create(client, headers)).status_code == 403
    assert (await client.delete("/v1/standing-approvals/stand_ann", headers=headers)).status_code == 403


async def test_who_revokes_it_finds_it_revoked(client: httpx.AsyncClient) -> None:
    name = (await create(client)).json()["standing_approval_id"]
    assert (await client.delete(f"/v1/standing-approvals/{name}")).status_code == 204
    listed = (await client.get("/v1/standing-approvals")).json()["standing_approvals"]
    assert {row["standing_approval_id"]: row["revoked"] for row in listed}[name] is True


async def test_another_owners_is_none(client: httpx.AsyncClient, stage: Stage) -> None:
    bob = stage.owner("bob")
    theirs = await client.delete("/v1/standing-approvals/stand_ann", headers=bob)
    missing = await client.delete("/v1/standing-approvals/stand_none", headers=bob)
    assert (theirs.status_code, theirs.content) == (404, missing.content)


async def test_a_workspace_has_so_many_at_most(client: httpx.AsyncClient) -> None:
    for _ in range(STANDING_PER_WORKSPACE_MAX - 1):  # one is there
        assert (await create(client)).status_code == 201
    assert (await create(client)).status_code == 409

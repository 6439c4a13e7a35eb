"""Approvals over HTTP: what is shown, who may decide, what is signed, and that a stored decision is executed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from ferryman.domain.approvals.approval import LIFETIME, ApprovalState, withdraw_approval
from ferryman.domain.approvals.decision import encode_decision
from ferryman.domain.executions.execution import Status
from ferryman.domain.workspaces.member import Right, Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import WorkspaceState
from ferryman.inmemory.clock import START
from ferryman.ports.errors import UnavailableError
from ferryman.vault.decision_keys import derive_decision_public_key
from tests.builders import build_execution

from .conftest import Stage, create_app
from .values import API_KEY, build_approval

HERE = derive_default_workspace("ann")
ID, EXECUTION = "appr_waiting", "exec_waiting"
PATH = f"/v1/approvals/{ID}"
DIGEST = build_approval("ann").digest


@pytest.fixture(autouse=True)
def _waiting(stage: Stage, client: httpx.AsyncClient) -> None:
    """An execution of ann's that waits, in its third slice."""
    stage.memory.approvals[ID] = build_approval("ann", id=ID, execution=EXECUTION)
    stage.memory.executions[EXECUTION] = build_execution(
        id=EXECUTION, owner="ann", workspace=HERE, slice=3, waiting_for=ID, waiting_since=START
    )


async def decide(client: httpx.AsyncClient, headers: dict[str, str] | None = None, **fields: Any) -> httpx.Response:
    body = {"verdict": "approve", "digest": DIGEST, **fields}
    return await client.post(f"{PATH}/decision", json=body, headers=headers)


def list_wake_ups(stage: Stage) -> list[tuple[str, int, timedelta]]:
    return [(item.execution, item.slice, item.after) for item in stage.queue.waiting]


async def test_what_would_be_sent_is_shown_with_its_secrets_named(client: httpx.AsyncClient) -> None:
    answer = (await client.get(PATH)).json()
    assert (answer["digest"], answer["state"], answer["expired"], answer["decision"]) == (DIGEST, "pending", False, None)
    assert answer["form"]["what"]["headers"] == [["Authorization", "Bearer {{secrets.GITHUB_TOKEN}}"]]
    assert (answer["label"]["integrity"], answer["before"]) == ("trusted", None)


async def test_what_was_approved_before_is_shown_to_compare_with(client: httpx.AsyncClient, stage: Stage) -> None:
    stage.memory.approvals["appr_before"] = build_approval("ann", id="appr_before", state=ApprovalState.APPROVED)
    stage.memory.approvals[ID] = replace(stage.memory.approvals[ID], before="appr_before")
    before = (await client.get(PATH)).json()["before"]
    assert (before["approval_id"], before["form"]["tool"]) == ("appr_before", "http_post")


async def test_what_was_approved_before_in_another_workspace_is_not_shown(client: httpx.AsyncClient, stage: Stage) -> None:
    stage.memory.approvals["appr_before"] = build_approval("bob", id="appr_before")
    stage.memory.approvals[ID] = replace(stage.memory.approvals[ID], before="appr_before")
    assert (await client.get(PATH)).json()["before"] is None


async def test_approvals_are_listed_by_state_and_execution_without_their_forms(client: httpx.AsyncClient) -> None:
    listed = (await client.get(f"/v1/approvals?state=pending&execution={EXECUTION}")).json()
    assert ([row["approval_id"] for row in listed["approvals"]], listed["next"]) == ([ID], None)
    assert "form" not in listed["approvals"][0]
    assert (await client.get("/v1/approvals?state=approved")).json()["approvals"] == []


async def test_a_decision_is_signed_by_the_key_that_is_published(client: httpx.AsyncClient, stage: Stage) -> None:
    answer = await decide(client, sends=3)
    assert (answer.status_code, answer.json()["state"], answer.json()["decision"]["by"]) == (200, "approved", "owner")
    decided = stage.memory.approvals[ID].decided
    assert decided is not None
    public = Ed25519PublicKey.from_public_bytes(derive_decision_public_key(API_KEY))
    public.verify(bytes.fromhex(decided.signature), encode_decision(decided.decision))
    keys = (await client.get("/v1/decision-keys")).json()["keys"]
    assert keys == {str(decided.key): derive_decision_public_key(API_KEY).hex()}


async def test_the_execution_goes_on_now_and_again_some_seconds_later(client: httpx.AsyncClient, stage: Stage) -> None:
    await decide(client)
    assert list_wake_ups(stage) == [(EXECUTION, 4, timedelta(seconds=10)), (EXECUTION, 3, timedelta(0))]


async def test_a_decision_that_cannot_be_executed_is_not_stored(
    client: httpx.AsyncClient, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise UnavailableError("the queue does not answer")

    monkeypatch.setattr(stage.queue, "enqueue", fail)
    assert (await decide(client)).status_code == 503
    assert stage.memory.approvals[ID].state is ApprovalState.PENDING


async def test_the_same_decision_again_changes_nothing(client: httpx.AsyncClient, stage: Stage) -> None:
    first = (await decide(client, reason="Fine.")).json()
    stage.clock.turn(5)
    again = await decide(client, reason="Still fine.")
    assert (again.status_code, again.json()) == (200, first)


async def test_another_decision_afterwards_is_a_conflict(client: httpx.AsyncClient) -> None:
    await decide(client)
    answer = await decide(client, verdict="deny")
    assert (answer.status_code, answer.json()["detail"]) == (
        409,
        "the call does not wait for a decision any longer: it is approved",
    )


async def test_a_denial_has_its_reason_and_no_sends(client: httpx.AsyncClient) -> None:
    decision = (await decide(client, verdict="deny", reason="Wrong account.")).json()["decision"]
    assert (decision["verdict"], decision["sends"], decision["reason"]) == ("deny", 0, "Wrong account.")


async def test_an_edit_has_all_arguments(client: httpx.AsyncClient) -> None:
    answer = (await decide(client, verdict="edit", arguments={"url": "https://a.test", "n": 1})).json()
    assert (answer["state"], answer["decision"]["arguments"]) == ("edited", {"n": 1, "url": "https://a.test"})


async def test_a_value_is_declassified_with_an_approval(client: httpx.AsyncClient, stage: Stage) -> None:
    answer = await decide(client, declassify="https://api.github.com/gists")
    assert answer.json()["decision"]["declassified"] == "https://api.github.com/gists"
    decided = stage.memory.approvals[ID].decided
    assert decided is not None
    assert decided.decision.declassified == "https://api.github.com/gists"


async def test_an_approval_without_the_value_that_was_declassified_is_another_decision(client: httpx.AsyncClient) -> None:
    await decide(client, declassify="https://api.github.com/gists")
    assert (await decide(client)).status_code == 409


async def test_after_its_time_nobody_decides(client: httpx.AsyncClient, stage: Stage) -> None:
    stage.clock.turn(LIFETIME.total_seconds())
    answer = await decide(client)
    assert (answer.status_code, (await client.get(PATH)).json()["expired"]) == (410, True)


async def test_what_was_withdrawn_is_a_conflict(client: httpx.AsyncClient, stage: Stage) -> None:
    stage.memory.approvals[ID] = withdraw_approval(stage.memory.approvals[ID])
    assert (await decide(client)).status_code == 409


@pytest.mark.parametrize("changes", [{"status": Status.KILLED}, {"cancel_requested": True}])
async def test_of_an_execution_that_ended_or_was_cancelled_nothing_is_decided(
    client: httpx.AsyncClient, stage: Stage, changes: dict[str, Any]
) -> None:
    stage.memory.executions[EXECUTION] = replace(stage.memory.executions[EXECUTION], **changes)
    assert (await decide(client)).status_code == 409


async def test_while_everything_is_halted_nothing_is_decided(client: httpx.AsyncClient, stage: Stage) -> None:
    stage.memory.halts.add("ann")
    answer = await decide(client)
    assert (answer.status_code, stage.memory.approvals[ID].state) == (409, ApprovalState.PENDING)


async def test_in_an_archived_workspace_nothing_is_decided(client: httpx.AsyncClient, stage: Stage) -> None:
    await client.get("/v1/workspaces")
    stage.owner("ann")
    ours = stage.memory.workspaces["ws_ann"]
    stage.memory.workspaces["ws_ann"] = replace(ours, state=WorkspaceState.ARCHIVED)
    stage.memory.approvals[ID] = build_approval("ann", id=ID, execution=EXECUTION, workspace="ws_ann")
    assert (await decide(client, {"Ferryman-Workspace": "ws_ann"})).status_code == 409


BAD = [
    ({"digest": "0" * 64}, "digest"),
    ({"digest": "é"}, "digest"),
    ({"sends": 0}, "sends"),
    ({"sends": 6}, "sends"),
    ({"verdict": "deny", "sends": 2}, "sends"),
    ({"reason": "x" * 1_001}, "reason"),
    ({"verdict": "deny", "arguments": {}}, "arguments"),
    ({"verdict": "edit"}, "arguments"),
    ({"verdict": "edit", "arguments": {"a": "x" * 100_001}}, "arguments"),
    ({"declassify": "https://api.github.com"}, "declassify"),
    ({"declassify": "url"}, "declassify"),
    ({"declassify": "the prompt"}, "declassify"),
    ({"declassify": "x" * 200}, "declassify"),
    ({"verdict": "deny", "declassify": "https://api.github.com/gists"}, "declassify"),
    ({"verdict": "perhaps"}, "verdict"),
    ({"by": "person_1"}, "by"),
]


@pytest.mark.parametrize(("fields", "field"), BAD)
async def test_what_is_not_accepted_is_named(
    client: httpx.AsyncClient, stage: Stage, fields: dict[str, Any], field: str
) -> None:
    answer = await decide(client, **fields)
    assert (answer.status_code, [problem["field"] for problem in answer.json()["errors"]]) == (422, [field])
    assert stage.memory.approvals[ID].state is ApprovalState.PENDING


@pytest.mark.parametrize("role", Role)
async def test_no_role_decides_and_a_membership_that_approves_does(client: httpx.AsyncClient, stage: Stage, role: Role) -> None:
    assert (await decide(client, stage.member(role))).status_code == 403
    answer = await decide(client, stage.member(role, approves=True))
    assert answer.status_code == 200
    assert answer.json()["decision"]["by"].startswith("person_")


async def test_a_key_without_the_scope_does_not_decide(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member(Role.ADMIN, approves=True, scopes=(Right.READ, Right.RUN, Right.MANAGE))
    assert (await decide(client, headers)).status_code == 403


async def test_another_owners_approval_is_none(client: httpx.AsyncClient, stage: Stage) -> None:
    bob = stage.owner("bob")
    theirs = await decide(client, bob)
    missing = await client.post("/v1/approvals/appr_none/decision", json={"verdict": "deny", "digest": DIGEST}, headers=bob)
    assert (theirs.status_code, theirs.content) == (404, missing.content)


async def test_a_decision_leaves_an_entry_of_who_made_it(client: httpx.AsyncClient, stage: Stage) -> None:
    await decide(client, stage.member(Role.VIEWER, approves=True), reason="Because.")
    ((person, action, targets),) = [(entry.person, entry.action, entry.targets) for entry in stage.memory.audit.values()]
    assert (person.startswith("person_"), action, targets) == (True, "decideApproval", (ID,))
    assert "Because." not in repr(stage.memory.audit)


async def test_executions_say_what_they_wait_for(client: httpx.AsyncClient) -> None:
    answer = (await client.get(f"/v1/executions/{EXECUTION}")).json()
    assert (answer["waiting_for"], answer["waiting_since"]) == (ID, "2026-11-21T12:00:00Z")
    listed = (await client.get("/v1/executions?waiting=true")).json()["executions"]
    assert [row["execution_id"] for row in listed] == [EXECUTION]


async def test_executions_that_do_not_wait_are_left_out(client: httpx.AsyncClient, stage: Stage) -> None:
    stage.memory.executions[EXECUTION] = replace(stage.memory.executions[EXECUTION], waiting_for="", waiting_since=None)
    assert (await client.get("/v1/executions?waiting=true")).json()["executions"] == []


async def test_a_cancelled_execution_that_waits_is_woken_at_once(client: httpx.AsyncClient, stage: Stage) -> None:
    stage.memory.executions[EXECUTION] = replace(stage.memory.executions[EXECUTION], status=Status.RUNNING)
    await client.post(f"/v1/executions/{EXECUTION}/cancel")
    assert list_wake_ups(stage) == [(EXECUTION, 3, timedelta(0))]


async def test_nothing_is_decided_while_the_key_is_not_the_published_one(stage: Stage) -> None:
    other = stage.deps()
    object.__setattr__(other.decision_signing, "_public", {1: bytes(32)})
    transport = httpx.ASGITransport(app=create_app(other))
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=stage.owner("ann")) as client:
        assert (await decide(client)).status_code == 503
    assert (stage.memory.approvals[ID].state, list(stage.queue.waiting)) == (ApprovalState.PENDING, [])

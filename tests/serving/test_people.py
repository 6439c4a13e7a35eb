"""People: who is invited joins once, nobody gives what they do not have, and who leaves is let in by nothing any more."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import httpx
import pytest

from ferryman.domain.executions.execution import Status
from ferryman.domain.jobs.job import JobKind
from ferryman.domain.workspaces.member import Right, Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.person import INVITATION_LIFETIME
from ferryman.domain.workspaces.workspace import Workspace, WorkspaceState
from ferryman.inmemory.clock import START
from ferryman.serving import keys

from .conftest import TASK, Stage
from .routes import CREDENTIAL, VALUE
from .values import TOKEN

HERE = derive_default_workspace("ann")
BEA = {"name": "Bea", "role": "operator"}
NOBODY = {"Authorization": ""}
SECRET = "abcdefghijklmnopqrstuvwxyz-0123456789_ABCDE"


async def invite(client: httpx.AsyncClient, headers: dict[str, str] | None = None, **change: object) -> httpx.Response:
    return await client.post("/v1/invitations", json={**BEA, **change}, headers=headers)


async def join(client: httpx.AsyncClient, token: str, headers: dict[str, str] | None = None) -> httpx.Response:
    return await client.post("/v1/join", json={"token": token}, headers=headers or NOBODY)


async def let_in(client: httpx.AsyncClient, **change: object) -> tuple[str, dict[str, str]]:
    """Invite somebody and have them join; return their id and their headers."""
    joined = (await join(client, (await invite(client, **change)).json()["token"])).json()
    return joined["person_id"], {"Authorization": f"Bearer {joined['key']}"}


async def test_who_is_invited_joins_and_works_with_a_key_of_their_own(client: httpx.AsyncClient) -> None:
    answer = await invite(client)
    assert answer.headers["location"] == f"/v1/invitations/{answer.json()['invitation_id']}"
    joined = await join(client, answer.json()["token"])
    assert (joined.status_code, joined.headers["cache-control"]) == (201, "no-store")
    me = (await client.get("/v1/me", headers={"Authorization": f"Bearer {joined.json()['key']}"})).json()
    assert (me["person_id"], me["name"], me["role"]) == (joined.json()["person_id"], "Bea", "operator")
    assert (me["workspace_id"], me["rights"], me["key_id"]) == (HERE, ["read", "run"], joined.json()["key_id"])
    assert me["credits_left"] is None


async def test_the_owner_is_told_what_the_own_key_may_do(client: httpx.AsyncClient) -> None:
    me = (await client.get("/v1/me")).json()
    assert (me["person_id"], me["role"], me["key_id"], me["rights"]) == ("", None, "", [*Right])


async def test_of_many_who_take_an_invitation_at_once_one_joins(client: httpx.AsyncClient, stage: Stage) -> None:
    before = len(stage.memory.people)
    answers = await asyncio.gather(*(join(client, TOKEN) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [201] + [404] * 7
    assert len(stage.memory.people) == before + 1


async def join_with(client: httpx.AsyncClient, token: str, secret: object) -> httpx.Response:
    return await client.post("/v1/join", json={"token": token, "secret": secret}, headers=NOBODY)


async def test_with_the_same_secret_the_same_request_is_answered_with_the_same_key(
    client: httpx.AsyncClient, stage: Stage
) -> None:
    first, again = [await join_with(client, TOKEN, SECRET) for _ in range(2)]
    assert (first.status_code, again.status_code, again.json()) == (201, 201, first.json())
    assert again.headers["cache-control"] == "no-store"
    me = await client.get("/v1/me", headers={"Authorization": f"Bearer {again.json()['key']}"})
    assert me.json()["key_id"] == again.json()["key_id"]
    assert not {secret for secret in (SECRET, first.json()["key"]) if secret in repr(stage.memory) + repr(stage.log.lines)}


async def test_of_two_who_try_and_try_again_each_is_always_answered_alike(client: httpx.AsyncClient, stage: Stage) -> None:
    members = len(stage.memory.memberships)
    others = SECRET[::-1]
    answers = await asyncio.gather(*(join_with(client, TOKEN, secret) for secret in (SECRET, others) * 4))
    came = [{(answer.status_code, answer.content) for answer in answers[which::2]} for which in (0, 1)]
    assert [len(known) for known in came] == [1, 1]
    assert sorted(status for known in came for status, _ in known) == [201, 404]
    assert len(stage.memory.memberships) == members + 1


async def test_a_key_that_was_revoked_is_not_answered_again(client: httpx.AsyncClient) -> None:
    joined = (await join_with(client, TOKEN, SECRET)).json()
    await client.delete(f"/v1/keys/{joined['key_id']}")
    assert (await join_with(client, TOKEN, SECRET)).status_code == 404


@pytest.mark.parametrize("secret", ["", "monday", SECRET[1:], SECRET + "A", SECRET[1:] + "=", SECRET[1:] + "é", 7])
async def test_a_secret_that_may_be_guessed_takes_nothing(client: httpx.AsyncClient, stage: Stage, secret: object) -> None:
    answer = await join_with(client, TOKEN, secret)
    assert (answer.status_code, answer.json()["errors"][0]["field"].rpartition(".")[2]) == (422, "secret")
    assert str(secret) not in answer.text or not secret
    assert keys.digest_key(TOKEN) in stage.memory.invitations


async def test_a_token_that_is_not_good_is_answered_as_any_other(client: httpx.AsyncClient, stage: Stage) -> None:
    withdrawn, late = (await invite(client)).json(), (await invite(client)).json()
    await client.delete(f"/v1/invitations/{withdrawn['invitation_id']}")
    tokens = [withdrawn["token"], "fi_" + "A" * 43, "", "x", "fi_é"]
    answers = [await join(client, token) for token in tokens]
    stage.clock.turn(INVITATION_LIFETIME.total_seconds())
    answers.append(await join(client, late["token"]))
    assert {(answer.status_code, answer.content) for answer in answers} == {(404, answers[0].content)}


async def test_a_token_is_shown_once_and_kept_as_its_digest_alone(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = {"Idempotency-Key": '"once"'}
    first, again = [await invite(client, headers) for _ in range(2)]
    assert again.json() == {**first.json(), "token": None}
    assert first.json()["token"] not in (await client.get("/v1/invitations")).text
    assert first.json()["token"] not in repr(stage.memory) + repr(stage.log.lines)


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "a\nb", "a\u202eb"])
async def test_a_name_that_cannot_be_shown_is_refused(client: httpx.AsyncClient, name: str) -> None:
    answer = await invite(client, name=name)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "name")


async def test_nobody_gives_a_right_that_they_do_not_have(client: httpx.AsyncClient, stage: Stage) -> None:
    admin = stage.member(Role.ADMIN)
    assert (await invite(client, admin, role="admin")).status_code == 201
    assert (await invite(client, admin, approves=True)).status_code == 403
    narrow = stage.member(Role.ADMIN, scopes=[Right.READ, Right.MANAGE])
    answer = await invite(client, narrow)
    assert (answer.status_code, answer.json()["detail"]) == (
        403,
        "this needs the right run, which is not among the scopes of this API key",
    )


async def test_nobody_raises_themselves(client: httpx.AsyncClient, stage: Stage) -> None:
    person, headers = await let_in(client, role="admin")
    answer = await client.patch(f"/v1/members/{person}", json={"approves": True}, headers=headers)
    assert answer.status_code == 403
    assert not stage.memory.memberships[HERE, person].approves


async def test_a_new_role_acts_on_the_next_request_whatever_the_key_was_made_with(client: httpx.AsyncClient) -> None:
    person, headers = await let_in(client)
    assert (await client.post("/v1/tasks", json=TASK, headers=headers)).status_code == 403
    changed = await client.patch(f"/v1/members/{person}", json={"role": "admin", "max_credits_month": 20})
    assert (changed.json()["role"], changed.json()["max_credits_month"]) == ("admin", "20")
    assert (await client.post("/v1/tasks", json=TASK, headers=headers)).status_code == 201
    await client.patch(f"/v1/members/{person}", json={"role": "viewer"})
    assert (await client.post("/v1/tasks", json=TASK, headers=headers)).status_code == 403


async def test_who_is_removed_is_let_in_by_none_of_their_keys(client: httpx.AsyncClient, stage: Stage) -> None:
    person, headers = await let_in(client, role="admin")
    second = (await client.post("/v1/keys", json={"name": "second"}, headers=headers)).json()["key"]
    left_open = (await invite(client, headers)).json()["token"]
    assert (await client.delete(f"/v1/members/{person}")).status_code == 202
    for key in (headers["Authorization"], f"Bearer {second}"):
        assert (await client.get("/v1/me", headers={"Authorization": key})).status_code == 401
    assert (await join(client, left_open)).status_code == 404
    assert person not in stage.memory.people


@pytest.mark.parametrize(("chosen", "kind"), [("end", JobKind.END_EXECUTIONS), ("take_over", JobKind.TAKE_OVER_EXECUTIONS)])
async def test_their_executions_end_or_are_taken_over_by_a_job(
    client: httpx.AsyncClient, stage: Stage, chosen: str, kind: JobKind
) -> None:
    person, _ = await let_in(client)
    answer = await client.delete(f"/v1/members/{person}?executions={chosen}", headers=stage.member(Role.ADMIN))
    job = stage.memory.jobs[answer.headers["location"].rpartition("/")[2]]
    remover = list(stage.memory.memberships)[-1][1]
    assert (job.kind, job.subject, job.person, job.workspace) == (kind, person, remover, HERE)
    assert job.successor == ("" if kind is JobKind.END_EXECUTIONS else remover)
    assert (await client.get(answer.headers["location"])).status_code == 200


async def test_the_owners_own_key_takes_over_for_the_owner(client: httpx.AsyncClient, stage: Stage) -> None:
    person, _ = await let_in(client)
    answer = await client.delete(f"/v1/members/{person}?executions=take_over")
    assert stage.memory.jobs[answer.headers["location"].rpartition("/")[2]].successor == "owner"


async def test_everybody_may_leave_but_the_last_admin(client: httpx.AsyncClient, stage: Stage) -> None:
    person, headers = await let_in(client, role="admin")
    answer = await client.delete(f"/v1/members/{person}", headers=headers)
    assert (answer.status_code, person in stage.memory.people) == (409, True)
    answer = await client.patch(f"/v1/members/{person}", json={"role": "viewer"}, headers=headers)
    assert answer.status_code == 409
    assert stage.memory.jobs.keys() == {"job_ann"}
    viewer, theirs = await let_in(client, role="viewer")
    assert (await client.delete(f"/v1/members/{viewer}", headers=theirs)).status_code == 202
    assert (await client.delete(f"/v1/members/{person}")).status_code == 202  # the owner's own key


async def test_who_leaves_has_nobody_who_takes_over(client: httpx.AsyncClient) -> None:
    person, headers = await let_in(client)
    answer = await client.delete(f"/v1/members/{person}?executions=take_over", headers=headers)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "executions")


async def test_a_key_that_was_made_for_less_ends_no_membership(client: httpx.AsyncClient) -> None:
    person, headers = await let_in(client)
    narrow = (await client.post("/v1/keys", json={"name": "n", "scopes": ["read"]}, headers=headers)).json()["key"]
    answer = await client.delete(f"/v1/members/{person}", headers={"Authorization": f"Bearer {narrow}"})
    assert answer.status_code == 403


async def test_who_may_not_manage_removes_nobody_else(client: httpx.AsyncClient) -> None:
    person, _ = await let_in(client)
    _, headers = await let_in(client)
    theirs = await client.delete(f"/v1/members/{person}", headers=headers)
    none = await client.delete("/v1/members/person_none", headers=headers)
    assert (theirs.status_code, theirs.content) == (403, none.content)


async def test_a_person_joins_another_workspace_of_the_owner_with_the_key_they_have(
    client: httpx.AsyncClient, stage: Stage
) -> None:
    person, headers = await let_in(client)
    token = (await invite(client, {"Ferryman-Workspace": "ws_ann"})).json()["token"]
    joined = (await join(client, token, headers)).json()
    assert (joined["person_id"], joined["workspace_id"]) == (person, "ws_ann")
    await client.delete(f"/v1/members/{person}")
    assert person in stage.memory.people
    assert (await client.get("/v1/me", headers={"Authorization": f"Bearer {joined['key']}"})).status_code == 200


async def test_a_person_of_another_owner_is_not_let_in_by_the_key_they_have(client: httpx.AsyncClient, stage: Stage) -> None:
    token = (await invite(client)).json()["token"]
    stage.owner("bob")
    answer = await join(client, token, stage.member(owner="bob"))
    assert (answer.status_code, answer.content) == (404, (await join(client, "none")).content)
    assert (await join(client, token, {"Authorization": "Bearer fm_" + "A" * 43})).status_code == 401
    assert (await join(client, token)).status_code == 201


async def test_nobody_joins_a_workspace_that_is_being_deleted(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = {"Ferryman-Workspace": "ws_ann"}
    token = (await invite(client, headers)).json()["token"]
    stage.memory.workspaces["ws_ann"] = Workspace(
        id="ws_ann", owner="ann", name="-", state=WorkspaceState.DELETING, created_at=START, updated_at=START
    )
    assert (await join(client, token)).status_code == 404


async def test_an_execution_names_who_started_it(client: httpx.AsyncClient, stage: Stage, task: str) -> None:
    person, headers = await let_in(client)
    execution = (await client.post(f"/v1/tasks/{task}/executions", headers=headers)).json()["execution_id"]
    stored = stage.memory.executions[execution]
    assert (stored.person, stored.status) == (person, Status.QUEUED)


async def test_members_of_another_workspace_are_not_told(client: httpx.AsyncClient) -> None:
    person, _ = await let_in(client)
    there = {"Ferryman-Workspace": "ws_ann"}
    assert (await client.get("/v1/members", headers=there)).json()["members"] == []
    answers = [await client.get(f"/v1/members/{name}", headers=there) for name in (person, "person_none", "a.b", "%00")]
    assert {(answer.status_code, answer.content) for answer in answers} == {(404, answers[0].content)}


@pytest.mark.parametrize("role", Role)
async def test_no_member_is_shown_the_value_of_a_credential(
    client: httpx.AsyncClient, stage: Stage, task: str, role: Role
) -> None:
    stored = await client.put(f"/v1/tasks/{task}/credentials/GITHUB_TOKEN", json=CREDENTIAL)
    assert stored.status_code == 200, stored.text
    headers = stage.member(role, approves=True)
    paths = [path for path, methods in (await client.get("/openapi.json")).json()["paths"].items() if "get" in methods]
    for path in paths:
        url = path.replace("{task_id}", task).replace("{integration_id}", "github").replace("{workspace_id}", HERE)
        stage.clock.turn(timedelta(seconds=60).total_seconds())
        answer = await client.get(url, headers=headers)
        assert VALUE not in answer.text, path
        assert "ciphertext" not in answer.text, path

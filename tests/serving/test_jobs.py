"""Jobs over HTTP: a deletion that is started once, progress that is told, and a receipt that verifies."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import httpx
import pytest

from ferryman import verify_deletion
from ferryman.domain.jobs.job import JobStatus
from ferryman.domain.workspaces.member import Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.workspace import WorkspaceState
from ferryman.jobs.starting import SAFETY
from ferryman.ports.errors import UnavailableError

from .conftest import Stage, create_app


async def test_a_deletion_answers_its_job_and_the_workspace_is_found_no_longer(client: httpx.AsyncClient, stage: Stage) -> None:
    answer = await client.delete("/v1/workspaces/ws_ann")
    body = answer.json()
    assert (answer.status_code, answer.headers["location"]) == (202, f"/v1/jobs/{body['job_id']}")
    assert (body["kind"], body["status"], body["workspace_id"]) == ("delete_workspace", "queued", "ws_ann")
    assert stage.memory.workspaces["ws_ann"].state is WorkspaceState.DELETING
    assert (await client.get("/v1/workspaces/ws_ann")).status_code == 404
    listed = (await client.get("/v1/workspaces")).json()["workspaces"]
    assert [item["workspace_id"] for item in listed] == [derive_default_workspace("ann")]


DELETIONS = {"workspaces": "ws_ann", "agents": "agent_ann", "conversations": "conv_ann", "members": "person_ann"}
EVERY_DELETION = pytest.mark.parametrize("path", [f"/v1/{kind}/{name}" for kind, name in DELETIONS.items()])


@EVERY_DELETION
async def test_a_deletion_that_is_asked_for_again_answers_the_job_as_it_is_by_now(
    client: httpx.AsyncClient, stage: Stage, path: str
) -> None:
    first = await client.delete(path)
    job = first.json()["job_id"]
    stage.memory.jobs[job] = replace(stage.memory.jobs[job], status=JobStatus.DONE)
    again = await client.delete(path)
    assert (first.status_code, again.status_code, again.headers["location"]) == (202, 202, first.headers["location"])
    assert again.json() == (await client.get(f"/v1/jobs/{job}")).json() == {**first.json(), "status": "done"}
    assert set(stage.memory.jobs) == {"job_ann", job}


@EVERY_DELETION
async def test_a_deletion_that_is_asked_for_again_leaves_one_audit_entry(
    client: httpx.AsyncClient, stage: Stage, path: str
) -> None:
    for _ in range(3):
        await client.delete(path)
    assert [entry.targets[0] for entry in stage.memory.audit.values()] == [path.rpartition("/")[2]]


@EVERY_DELETION
async def test_of_deletions_at_once_all_answer_one_job(client: httpx.AsyncClient, stage: Stage, path: str) -> None:
    answers = await asyncio.gather(*(client.delete(path) for _ in range(4)))
    assert {answer.status_code for answer in answers} == {202}
    assert {answer.json()["job_id"] for answer in answers} == set(stage.memory.jobs) - {"job_ann"}


@EVERY_DELETION
async def test_a_deletion_of_somebody_else_is_asked_for_again_as_of_what_does_not_exist(
    client: httpx.AsyncClient, stage: Stage, path: str
) -> None:
    await client.delete(path)
    headers = stage.owner("bob")
    theirs, missing = [await client.delete(name, headers=headers) for name in (path, f"{path}_none")]
    assert (theirs.status_code, theirs.content) == (404, missing.content)


@pytest.mark.parametrize("kind", ["agents", "conversations", "members"])
async def test_a_deletion_in_another_workspace_is_asked_for_again_as_of_what_does_not_exist(
    client: httpx.AsyncClient, stage: Stage, kind: str
) -> None:
    path, elsewhere = f"/v1/{kind}/{DELETIONS[kind]}", {"Ferryman-Workspace": "ws_ann"}
    await client.delete(path)
    there, missing = [await client.delete(name, headers=elsewhere) for name in (path, f"{path}_none")]
    assert (there.status_code, there.content) == (404, missing.content)


async def test_who_may_not_delete_is_told_of_no_job(client: httpx.AsyncClient, stage: Stage) -> None:
    for path in (f"/v1/{kind}/{name}" for kind, name in DELETIONS.items()):
        await client.delete(path)
        assert (await client.delete(path, headers=stage.member(Role.OPERATOR))).status_code == 403


async def test_an_id_is_found_as_what_it_is_alone(client: httpx.AsyncClient) -> None:
    await client.delete("/v1/agents/agent_ann")
    for kind in ("members", "workspaces"):
        assert (await client.delete(f"/v1/{kind}/agent_ann")).status_code == 404


async def test_a_deletion_is_delivered_now_and_once_more_later(client: httpx.AsyncClient, stage: Stage) -> None:
    job = (await client.delete("/v1/workspaces/ws_ann")).json()["job_id"]
    waiting = [(item.job, item.slice, item.after) for item in stage.job_queue.waiting]
    assert sorted(waiting, key=lambda item: item[2]) == [(job, 0, 0 * SAFETY), (job, 0, SAFETY)]


async def test_a_job_that_cannot_be_enqueued_now_is_started_all_the_same(stage: Stage) -> None:
    class Second:
        """A queue whose second request finds it away."""

        async def enqueue(self, job: str, *, wake_up: str = "", **_: object) -> None:
            if not wake_up:
                raise UnavailableError("away")

    app = create_app(replace(stage.deps(), job_queue=Second()))  # type: ignore[arg-type] # a queue
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://api.test") as client:
        answer = await client.delete("/v1/workspaces/ws_ann", headers=stage.owner("ann"))
    assert answer.status_code == 202
    assert "job.not_enqueued" in [event for event, _ in stage.log.lines]


async def test_the_default_workspace_is_not_deleted(client: httpx.AsyncClient) -> None:
    answer = await client.delete(f"/v1/workspaces/{derive_default_workspace('ann')}")
    assert (answer.status_code, answer.json()["detail"]) == (409, "the default workspace cannot be deleted")


async def test_an_archived_workspace_is_deleted_as_any_other(client: httpx.AsyncClient) -> None:
    await client.post("/v1/workspaces/ws_ann/archive")
    assert (await client.delete("/v1/workspaces/ws_ann")).status_code == 202


async def test_a_job_tells_its_progress(client: httpx.AsyncClient, stage: Stage) -> None:
    running = {"status": JobStatus.RUNNING, "stage": "executions", "counts": {"executions": 3}, "receipt": None}
    stage.memory.jobs["job_ann"] = replace(stage.memory.jobs["job_ann"], completed_at=None, **running)
    body = (await client.get("/v1/jobs/job_ann")).json()
    assert {name: body[name] for name in running} == running
    assert (await client.get("/v1/jobs/job_ann/receipt")).status_code == 404


async def test_the_receipt_of_a_deletion_verifies(client: httpx.AsyncClient) -> None:
    document = (await client.get("/v1/jobs/job_ann/receipt")).json()
    assert verify_deletion.find_fault(document) is None
    document["receipt"]["counts"]["tasks"] = 1
    assert verify_deletion.find_fault(document) == "the receipt was changed: its hash is not that of its content"


async def test_jobs_are_listed_newest_first(client: httpx.AsyncClient, stage: Stage) -> None:
    stage.clock.turn(1)
    new = (await client.delete("/v1/workspaces/ws_ann")).json()["job_id"]
    assert [job["job_id"] for job in (await client.get("/v1/jobs")).json()["jobs"]] == [new, "job_ann"]


async def test_a_job_of_somebody_else_is_answered_as_one_that_does_not_exist(client: httpx.AsyncClient, stage: Stage) -> None:
    theirs = await client.get("/v1/jobs/job_ann", headers=stage.owner("bob"))
    missing = await client.get("/v1/jobs/job_none", headers=stage.owner("bob"))
    assert (theirs.status_code, theirs.content) == (404, missing.content)


async def test_a_member_is_told_of_the_jobs_of_their_own_workspace_alone(client: httpx.AsyncClient, stage: Stage) -> None:
    headers = stage.member(Role.ADMIN)
    theirs = await client.get("/v1/jobs/job_ann", headers=headers)
    missing = await client.get("/v1/jobs/job_none", headers=headers)
    assert (theirs.status_code, theirs.content) == (404, missing.content)
    stage.memory.jobs["job_ann"] = replace(stage.memory.jobs["job_ann"], workspace=derive_default_workspace("ann"))
    assert (await client.get("/v1/jobs/job_ann", headers=headers)).status_code == 200

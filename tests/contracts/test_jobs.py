"""Jobs: one holder at a time, a subject that is gone from the first commit on, and everything of it counted once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.executions.execution import OWNER
from ferryman.domain.jobs.deletion_receipt import DeletionReceipt
from ferryman.domain.jobs.job import Job, JobKind, JobStatus
from ferryman.domain.jobs.parts import EXECUTIONS, list_parts
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from ferryman.domain.workspaces.workspace import WorkspaceState

from .belongings import COUNTS, OF_AGENT, build_job, fill, fill_with_people
from .conftest import Stores
from .values import LATER, LEASE, NOW, TOO_LATE

RECEIPT = DeletionReceipt(
    job="job_1",
    kind="delete_workspace",
    workspace="ws_1",
    subject="ws_1",
    person="",
    counts={"tasks": 1},
    requested_at="2026-11-21T12:00:00.123000Z",
    completed_at="2026-11-21T12:00:10.123000Z",
    key=1,
    hash="00",
    signature="00",
)


async def claim(stores: Stores, job: Job | None = None) -> Job:
    job = job or build_job()
    await stores.jobs.start(job)
    claimed, is_ours = await stores.jobs.claim(job.id, slice=0, holder="h", now=NOW, lease=LEASE)
    assert is_ours
    return claimed


async def delete_all(stores: Stores, job: Job, *, most: int) -> Job:
    """Delete part by part, in commits of at most `most` documents."""
    for execution in await stores.job_work.unended(job):
        await stores.executions.cancel(execution.id, by=OWNER, now=NOW)
    for part in list_parts(job.kind):
        more = True
        while more:
            deleted = await stores.job_work.delete(job, part, most=most, now=LATER, lease=LEASE)
            job, more = deleted.job, deleted.more
    return job


async def test_a_job_comes_back_as_it_was_started(stores: Stores) -> None:
    await fill(stores)
    job = replace(build_job(), person="person_1", counts={"tasks": 3}, executions=("exec_1",))
    await stores.jobs.start(job)
    assert await stores.jobs.get("job_1") == job
    assert await stores.jobs.get("job_2") is None


async def test_a_workspace_is_deleting_from_the_commit_that_starts_the_job(stores: Stores) -> None:
    await fill(stores)
    await stores.jobs.start(build_job())
    stored = await stores.workspaces.get("ws_1", owner="ann")
    assert stored is not None
    assert stored.state is WorkspaceState.DELETING


async def test_an_agent_is_gone_from_the_commit_that_starts_the_job(stores: Stores) -> None:
    await fill(stores)
    await stores.jobs.start(build_job(JobKind.DELETE_AGENT, "agent_1"))
    assert await stores.agents.get("agent_1", owner="ann", workspace="ws_1") is None


async def test_a_job_is_started_once(stores: Stores) -> None:
    await fill(stores)
    await stores.jobs.start(build_job())
    await stores.jobs.start(build_job())
    assert [job.id for job in await stores.jobs.list("ann")] == ["job_1"]


@pytest.mark.parametrize(
    ("kind", "subject", "owner"),
    [
        (JobKind.DELETE_WORKSPACE, "ws_none", "ann"),
        (JobKind.DELETE_WORKSPACE, "ws_1", "bob"),
        (JobKind.DELETE_WORKSPACE, derive_default_workspace("ann"), "ann"),
        (JobKind.DELETE_AGENT, "agent_none", "ann"),
        (JobKind.DELETE_AGENT, "agent_1", "bob"),
        (JobKind.DELETE_AGENT, derive_default_agent("ws_1"), "ann"),
    ],
)
async def test_what_is_not_there_or_of_somebody_else_or_a_default_starts_nothing(
    stores: Stores, kind: JobKind, subject: str, owner: str
) -> None:
    await fill(stores)
    with pytest.raises(KeyError):
        await stores.jobs.start(build_job(kind, subject, owner=owner))
    assert await stores.jobs.get("job_1") is None


async def test_a_workspace_that_is_being_deleted_is_not_deleted_by_a_second_job(stores: Stores) -> None:
    await fill(stores)
    await stores.jobs.start(build_job())
    with pytest.raises(KeyError):
        await stores.jobs.start(build_job(id="job_2"))


async def test_jobs_are_listed_newest_first_by_owner_or_workspace(stores: Stores) -> None:
    for number, workspace in enumerate(("ws_1", "ws_2", "ws_1")):
        job = build_job(JobKind.END_EXECUTIONS, "person_1", id=f"job_{number}", workspace=workspace)
        await stores.jobs.start(replace(job, created_at=NOW + timedelta(seconds=number)))
    assert [job.id for job in await stores.jobs.list("ann")] == ["job_2", "job_1", "job_0"]
    assert [job.id for job in await stores.jobs.list("ann", workspace="ws_1")] == ["job_2", "job_0"]
    first = await stores.jobs.list("ann", most=2)
    assert [job.id for job in await stores.jobs.list("ann", after=first.end)] == ["job_0"]


async def test_a_job_is_found_by_what_it_is_about_and_the_newest_where_somebody_left_twice(stores: Stores) -> None:
    for number, (person, workspace) in enumerate((("person_1", "ws_1"), ("person_1", "ws_1"), ("person_1", "ws_2"))):
        job = build_job(JobKind.END_EXECUTIONS, person, id=f"job_{number}", workspace=workspace)
        await stores.jobs.start(replace(job, created_at=NOW + timedelta(seconds=number)))
    newest = await stores.jobs.find("ann", workspace="ws_1", subject="person_1")
    assert newest == await stores.jobs.get("job_1")


@pytest.mark.parametrize("place", [("ann", "ws_2", "person_1"), ("bob", "ws_1", "person_1"), ("ann", "ws_1", "person_2")])
async def test_a_job_is_not_found_from_another_owner_or_workspace(stores: Stores, place: tuple[str, str, str]) -> None:
    await stores.jobs.start(build_job(JobKind.END_EXECUTIONS, "person_1"))
    owner, workspace, subject = place
    assert await stores.jobs.find(owner, workspace=workspace, subject=subject) is None


async def test_a_job_has_one_holder_at_a_time(stores: Stores) -> None:
    await fill(stores)
    await claim(stores)
    assert (await stores.jobs.claim("job_1", slice=0, holder="i", now=LATER, lease=LEASE))[1] is False
    second, is_ours = await stores.jobs.claim("job_1", slice=0, holder="i", now=TOO_LATE, lease=LEASE)
    assert (is_ours, second.epoch) == (True, 2)


async def test_an_unknown_job_is_not_claimed(stores: Stores) -> None:
    with pytest.raises(KeyError):
        await stores.jobs.claim("job_1", slice=0, holder="h", now=NOW, lease=LEASE)


async def test_a_holder_whose_lease_has_passed_on_changes_nothing(stores: Stores) -> None:
    await fill(stores)
    old = await claim(stores)
    await stores.jobs.claim("job_1", slice=0, holder="i", now=TOO_LATE, lease=LEASE)
    work = stores.job_work
    calls = (
        lambda: work.delete(old, EXECUTIONS, most=9, now=LATER, lease=LEASE),
        lambda: work.disable_tasks(old, most=9, now=LATER, lease=LEASE),
        lambda: work.note(old, ["exec_1"], now=LATER, lease=LEASE),
        lambda: work.take_over(old, "exec_ws_1", now=LATER),
        lambda: work.finish(old, None, now=LATER),
        lambda: stores.jobs.hand_over(old, now=LATER),
    )
    for call in calls:
        with pytest.raises(StaleError):
            await call()
    assert await stores.executions.get("exec_ws_1") is not None


async def test_a_slice_that_was_handed_over_is_not_claimed_again(stores: Stores) -> None:
    await fill(stores)
    assert await stores.jobs.hand_over(await claim(stores), now=LATER) == 1
    assert (await stores.jobs.claim("job_1", slice=0, holder="i", now=LATER, lease=LEASE))[1] is False
    assert (await stores.jobs.claim("job_1", slice=1, holder="i", now=LATER, lease=LEASE))[1] is True


@pytest.mark.parametrize("most", [1, 2, 3, 100])
async def test_everything_of_a_workspace_is_deleted_and_counted_once(stores: Stores, most: int) -> None:
    await fill(stores)
    await fill(stores, "ws_2", "agent_2")
    job = await delete_all(stores, await claim(stores), most=most)
    assert job.counts == COUNTS
    assert await stores.jobs.get("job_1") == job
    assert list(await stores.tasks.list("ws_1")) == []
    assert list(await stores.executions.list("ws_1")) == []
    assert await stores.executions.get("exec_ws_1") is None
    assert tuple(map(len, await stores.credentials.read_all("task_ws_1"))) == (0, 0)
    assert list(await stores.clusters.list("task_ws_1")) == []
    assert await stores.tokens.get(f"{'ws_1':a<64}") is None


async def test_nothing_of_another_workspace_is_touched(stores: Stores) -> None:
    await fill(stores)
    await fill(stores, "ws_2", "agent_2")
    await delete_all(stores, await claim(stores), most=100)
    other = await claim(stores, build_job(id="job_2", workspace="ws_2", subject="ws_2"))
    assert (await delete_all(stores, other, most=100)).counts == COUNTS


async def test_the_ledger_and_the_sums_stay_and_the_parts_of_the_balance_go(stores: Stores) -> None:
    await fill(stores)
    await fill(stores, "ws_2", "agent_2")
    entries, before = await stores.ledger.of_execution("exec_ws_1"), await stores.ledger.balance("owner:ann")
    await stores.job_work.finish(await delete_all(stores, await claim(stores), most=3), None, now=LATER)
    after = await stores.ledger.balance("owner:ann")
    assert await stores.ledger.of_execution("exec_ws_1") == entries
    assert replace(after, parts={}) == replace(before, parts={})
    assert {"workspace:ws_1", "agent:agent_1", "task:task_ws_1"} <= before.parts.keys()
    assert after.parts == {name: part for name, part in before.parts.items() if name.endswith("_2")}


async def test_a_person_who_is_a_member_elsewhere_stays_and_any_other_goes(stores: Stores) -> None:
    await fill(stores)
    await fill(stores, "ws_2", "agent_2")
    for workspace in ("ws_1", "ws_2"):
        await fill_with_people(stores, workspace, "person_both")
    assert (await delete_all(stores, await claim(stores), most=100)).counts["people"] == 1
    known = [await stores.members.find_person(person, owner="ann") for person in ("person_both", "person_ws_1")]
    assert [person is not None for person in known] == [True, False]
    assert await stores.keys.find("ws_1-person_both") is None
    assert await stores.keys.find("ws_2-person_both") is not None


async def test_an_agents_tasks_and_executions_are_deleted_and_those_of_others_are_not(stores: Stores) -> None:
    await fill(stores)
    job = await claim(stores, build_job(JobKind.DELETE_AGENT, "agent_1"))
    assert (await delete_all(stores, job, most=100)).counts == OF_AGENT


async def test_an_execution_that_has_not_ended_is_not_deleted(stores: Stores) -> None:
    await fill(stores)
    job = await claim(stores)
    assert [execution.id for execution in await stores.job_work.unended(job)] == ["queued_ws_1"]
    for _ in range(2):
        deleted = await stores.job_work.delete(job, EXECUTIONS, most=100, now=LATER, lease=LEASE)
    assert deleted.job.counts["executions"] == COUNTS["executions"] - 1
    assert await stores.executions.get("queued_ws_1") is not None


async def test_the_unended_executions_of_a_job_are_those_of_its_subject(stores: Stores) -> None:
    await fill(stores)
    await fill(stores, "ws_2", "agent_2")
    job = build_job(JobKind.DELETE_AGENT, "agent_2", workspace="ws_2")
    assert [execution.id for execution in await stores.job_work.unended(job)] == ["queued_ws_2"]
    assert list(await stores.job_work.unended(build_job(JobKind.END_EXECUTIONS, "person_1"))) == []


async def test_tasks_are_disabled_a_few_at_a_time(stores: Stores) -> None:
    await fill(stores)
    job = await claim(stores)
    assert (await stores.job_work.disable_tasks(job, most=1, now=LATER, lease=LEASE)).more is True
    assert (await stores.job_work.disable_tasks(job, most=1, now=LATER, lease=LEASE)).more is False
    task = await stores.tasks.get("task_ws_1")
    assert task is not None
    assert task.enabled is False


async def test_executions_are_counted_once_however_often_they_are_noted(stores: Stores) -> None:
    await fill(stores)
    job = await claim(stores, build_job(JobKind.END_EXECUTIONS, "person_1"))
    job = await stores.job_work.note(job, ["a", "b"], now=LATER, lease=LEASE)
    job = await stores.job_work.note(job, ["b", "c"], now=LATER, lease=LEASE)
    assert (job.executions, job.counts) == (("a", "b", "c"), {"executions": 3})
    assert await stores.jobs.get("job_1") == job


async def test_an_execution_that_goes_on_names_who_took_it_over(stores: Stores) -> None:
    await fill(stores)
    job = await claim(stores, build_job(JobKind.TAKE_OVER_EXECUTIONS, "person_1", successor="person_2"))
    for name in ("queued_ws_1", "exec_ws_1", "exec_none"):
        await stores.job_work.take_over(job, name, now=LATER)
    executions = [await stores.executions.get(name) for name in ("queued_ws_1", "exec_ws_1")]
    assert [execution and execution.taken_over_by for execution in executions] == ["person_2", ""]


async def test_a_finished_job_keeps_its_receipt_and_its_workspace_is_gone(stores: Stores) -> None:
    await fill(stores)
    job = await claim(stores)
    await stores.job_work.finish(job, RECEIPT, now=LATER)
    done = await stores.jobs.get("job_1")
    assert done == replace(job, status=JobStatus.DONE, lease=None, completed_at=LATER, receipt=RECEIPT)
    assert await stores.workspaces.get("ws_1", owner="ann") is None
    with pytest.raises(StaleError):
        await stores.job_work.finish(job, RECEIPT, now=LATER)

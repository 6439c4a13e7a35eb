"""Who answers for an execution: who took it over, or else who started it. It counts to the cap of that person."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from ferryman.domain.executions.execution import OWNER, Status
from ferryman.domain.jobs.job import Job, JobKind, JobStatus
from ferryman.domain.owners.cap import Cap, CapKind, name_person_part
from ferryman.domain.workspaces.member import Membership, Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.clock import START
from ferryman.loop.start import WAIT_S
from tests.loop.conftest import says

HERE = derive_default_workspace("o")


def add_member(stage, person, limit):
    stage.memory.memberships[HERE, person] = Membership(
        owner="o", workspace=HERE, person=person, role=Role.OPERATOR, max_credits_month=Decimal(limit), created_at=START
    )


def list_person_caps(stage):
    return [cap for cap in stage.execution.policy.caps if cap.kind is CapKind.PERSON]


def build_cap(person, limit):
    return Cap(kind=CapKind.PERSON, id=name_person_part(HERE, person), credits=Decimal(limit))


async def test_an_execution_counts_to_the_cap_of_who_started_it(stage):
    add_member(stage, "eve", 200)
    stage.start(person="eve")
    await stage.run(says("done"))
    assert list_person_caps(stage) == [build_cap("eve", 200)]


@pytest.mark.parametrize("successor", ["", "bea"])
async def test_an_execution_that_no_member_answers_for_any_more_does_not_begin(stage, successor):
    stage.start(person="eve", taken_over_by=successor)
    await stage.run()
    assert (stage.execution.status, stage.execution.credits_used) == (Status.FAILED, 0)
    assert stage.execution.error == "the person who answers for the execution has left the workspace"
    assert stage.model.prompts == []


def add_job(stage, kind, status, *, executions=()):
    """Store the job about eve, who has left."""
    stage.memory.jobs["job_1"] = Job(
        **{"id": "job_1", "owner": "o", "workspace": HERE, "subject": "eve", "successor": "bea", "created_at": START},
        kind=kind,
        status=status,
        executions=executions,
    )


def is_waiting(stage):
    """Tell whether the execution has not begun, and comes again."""
    (again,) = stage.queue.waiting
    begun = stage.model.prompts or stage.memory.steps.get("e") or stage.execution.credits_reserved
    return not begun and not stage.execution.status.terminal and again.after == timedelta(seconds=WAIT_S)


@pytest.mark.parametrize("status", [JobStatus.QUEUED, JobStatus.RUNNING])
async def test_an_execution_waits_for_the_job_that_hands_it_over(stage, status):
    add_job(stage, JobKind.TAKE_OVER_EXECUTIONS, status)
    stage.start(person="eve")
    await stage.run(says("done"))
    assert is_waiting(stage)
    add_member(stage, "bea", 300)
    add_job(stage, JobKind.TAKE_OVER_EXECUTIONS, JobStatus.DONE, executions=("e",))
    stage.memory.executions["e"] = replace(stage.execution, taken_over_by="bea")
    await stage.run(says("done"))
    assert stage.execution.status is Status.COMPLETED
    assert list_person_caps(stage) == [build_cap("bea", 300)]


async def test_an_execution_that_was_handed_over_since_it_was_read_comes_again(stage):
    add_job(stage, JobKind.TAKE_OVER_EXECUTIONS, JobStatus.DONE, executions=("e",))
    stage.start(person="eve")
    await stage.run(says("done"))
    assert is_waiting(stage)


async def test_an_execution_that_waits_for_the_job_that_ends_it_is_cancelled_by_it(stage):
    add_job(stage, JobKind.END_EXECUTIONS, JobStatus.RUNNING)
    stage.start(person="eve")
    await stage.run(says("done"))
    assert is_waiting(stage)
    await stage.deps().executions.cancel("e", by="boss", now=START)
    await stage.run(says("done"))
    assert (stage.execution.status, stage.execution.cancelled_by) == (Status.KILLED, "boss")
    assert stage.execution.credits_used == 0
    assert stage.model.prompts == []


@pytest.mark.parametrize(
    ("kind", "executions"),
    [
        (JobKind.END_EXECUTIONS, ("e",)),
        (JobKind.TAKE_OVER_EXECUTIONS, ("another",)),
        (JobKind.DELETE_AGENT, ()),
    ],
)
async def test_an_execution_that_no_job_has_handed_over_fails(stage, kind, executions):
    add_job(stage, kind, JobStatus.DONE, executions=executions)
    stage.start(person="eve")
    await stage.run(says("done"))
    assert stage.execution.error == "the person who answers for the execution has left the workspace"
    assert stage.model.prompts == []


async def test_an_execution_that_was_taken_over_counts_to_the_cap_of_who_did(stage):
    add_member(stage, "bea", 300)
    stage.start(person="eve", taken_over_by="bea")
    await stage.run(says("done"))
    assert stage.execution.status is Status.COMPLETED
    assert list_person_caps(stage) == [build_cap("bea", 300)]


async def test_a_cap_of_the_successor_that_is_too_small_refuses_it(stage):
    add_member(stage, "bea", 1)
    stage.start(person="eve", taken_over_by="bea")
    await stage.run()
    assert stage.execution.status is Status.FAILED
    assert "bea" in stage.execution.error


async def test_an_execution_that_the_owner_took_over_has_no_cap_of_a_person(stage):
    stage.start(person="eve", taken_over_by=OWNER)
    await stage.run(says("done"))
    assert stage.execution.status is Status.COMPLETED
    assert list_person_caps(stage) == []

"""Jobs: what each is about, and who may work on it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.jobs.job import Job, JobKind, JobStatus, acquire_job, check_job, hand_over_job
from ferryman.domain.jobs.parts import AGENTS, CONVERSATIONS, EXECUTIONS, MEMBERS, TASKS, WorkspacePart
from ferryman.domain.jobs.scope import concerns, name_balance_part, name_scope
from ferryman.domain.stale import StaleError
from tests.builders import START, build_execution

LENGTH = timedelta(seconds=30)
JOB = Job(id="job_1", owner="o", workspace="w", kind=JobKind.DELETE_WORKSPACE, subject="w", created_at=START)
EXECUTION = build_execution(owner="o", workspace="w", agent="a", person="p", conversation="c")


def take(job: Job = JOB, number: int = 0) -> Job | None:
    return acquire_job(job, slice=number, holder="h", now=START, length=LENGTH)


@pytest.mark.parametrize(
    ("kind", "subject", "is_its"),
    [
        (JobKind.DELETE_WORKSPACE, "w", True),
        (JobKind.DELETE_AGENT, "a", True),
        (JobKind.DELETE_AGENT, "b", False),
        (JobKind.DELETE_CONVERSATION, "c", True),
        (JobKind.DELETE_CONVERSATION, "d", False),
        (JobKind.END_EXECUTIONS, "p", True),
        (JobKind.END_EXECUTIONS, "q", False),
        (JobKind.TAKE_OVER_EXECUTIONS, "p", True),
    ],
)
def test_an_execution_belongs_to_its_workspace_its_agent_and_its_person(kind: JobKind, subject: str, is_its: bool) -> None:
    assert concerns(replace(JOB, kind=kind, subject=subject), EXECUTION) is is_its


@pytest.mark.parametrize("place", [{"owner": "x"}, {"workspace": "x"}], ids=str)
def test_an_execution_of_another_owner_or_workspace_is_none_of_a_job_s(place: dict[str, str]) -> None:
    assert not concerns(JOB, replace(EXECUTION, **place))


@pytest.mark.parametrize(
    ("part", "name"), [(TASKS, "task:x"), (AGENTS, "agent:x"), (MEMBERS, "person:w/x"), (EXECUTIONS, None)], ids=str
)
def test_what_is_counted_of_a_thing_ends_with_it(part: WorkspacePart, name: str | None) -> None:
    assert name_balance_part(JOB, part, "x") == name


def test_the_scope_of_an_agent_is_narrower_than_its_workspace() -> None:
    assert name_scope(JOB, TASKS) == {"workspace": "w"}
    assert name_scope(replace(JOB, kind=JobKind.DELETE_AGENT, subject="a"), TASKS) == {"workspace": "w", "agent": "a"}


def test_the_scope_of_a_conversation_is_its_own_document_and_what_names_it() -> None:
    job = replace(JOB, kind=JobKind.DELETE_CONVERSATION, subject="c")
    assert name_scope(job, CONVERSATIONS) == {"workspace": "w", "id": "c"}
    assert name_scope(job, EXECUTIONS) == {"workspace": "w", "conversation": "c"}


def test_a_job_that_is_done_or_held_or_further_on_is_not_taken() -> None:
    assert take(replace(JOB, status=JobStatus.DONE)) is None
    assert take(take()) is None  # type: ignore[arg-type] # the first one takes it
    assert take(replace(JOB, slice=1)) is None


def test_a_lease_that_has_run_out_is_taken_with_a_later_epoch() -> None:
    first = take()
    assert first is not None
    second = acquire_job(first, slice=0, holder="i", now=START + LENGTH, length=LENGTH)
    assert second is not None
    assert (first.epoch, second.epoch) == (1, 2)


@pytest.mark.parametrize("seconds", [30, 31])
def test_who_has_held_it_too_long_changes_nothing(seconds: int) -> None:
    job = take()
    assert job is not None
    assert check_job(job, job, START) is job
    with pytest.raises(StaleError, match="has expired"):
        check_job(job, job, START + timedelta(seconds=seconds))


def test_who_has_handed_over_changes_nothing() -> None:
    job = take()
    assert job is not None
    with pytest.raises(StaleError, match="has expired"):
        check_job(hand_over_job(job, START), job, START)


def test_who_holds_an_earlier_lease_changes_nothing() -> None:
    job = take()
    assert job is not None
    later = acquire_job(job, slice=0, holder="i", now=START + LENGTH, length=LENGTH)
    with pytest.raises(StaleError, match="another holder"):
        check_job(later, job, START + LENGTH)

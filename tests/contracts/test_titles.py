"""Titles by the model on both stores: one execution after an answer, whose end names the conversation unless a person has."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.conversations.asking import Question
from ferryman.domain.conversations.titles import TitleNotNeededError, build_title_execution, derive_title_execution
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.executions.occupancy import TooManyQueuedError
from ferryman.domain.jobs.job import JobKind
from ferryman.domain.jobs.parts import list_parts
from ferryman.ports.errors import TaskDisabledError
from ferryman.ports.executions import ExecutionEnding

from .conftest import Stores
from .test_chats import CHAT, answer, ask, read, start_deletion
from .values import LATER, LEASE, NOW, OWNER, TASK

TITLE = derive_title_execution("exec_1")
LINE = "Where is the ferry?"


@pytest.fixture
async def stores(stores: Stores) -> Stores:
    await stores.owners.put(OWNER)
    await stores.tasks.create(TASK)
    await stores.conversations.create(CHAT)
    await ask(stores, 1)
    await answer(stores, 1)
    return stores


async def start(stores: Stores, *, most: int = 9) -> Execution:
    answered = await stores.executions.get("exec_1")
    assert answered is not None
    title = build_title_execution(answered, question="Where?", text="There.", now=NOW + timedelta(minutes=1), trace="")
    occupied = await stores.conversations.start_title(title, most=most)
    assert TITLE in occupied.queued
    return title


async def finish(stores: Stores, title: str = "Ferries", status: Status = Status.COMPLETED) -> None:
    claimed, _ = await stores.executions.claim(TITLE, slice=0, holder="h", now=LATER, lease=LEASE)
    await stores.executions.finish(claimed, ExecutionEnding(status=status, output=title, title=title), now=LATER)


async def name(stores: Stores) -> None:
    stored = await read(stores)
    named = replace(stored, title="Mine", is_named=True, updated_at=LATER)
    assert await stores.conversations.update(named, ("title", "is_named"), since=stored.updated_at)


async def test_a_title_is_stored_as_it_was_started(stores: Stores) -> None:
    title = await start(stores)
    assert await stores.executions.get(TITLE) == title


async def test_a_title_is_listed_as_one(stores: Stores) -> None:
    await start(stores)
    page = await stores.executions.list(TASK.workspace)
    assert [(item.titled_answer, item.answer) for item in page.items if item.id == TITLE] == [(2, 0)]


async def test_its_end_names_the_conversation(stores: Stores) -> None:
    await start(stores)
    assert (await read(stores)).title == LINE
    await finish(stores)
    stored = await read(stores)
    assert (stored.title, stored.is_named) == ("Ferries", False)


async def test_its_end_changes_nothing_else_of_the_conversation(stores: Stores) -> None:
    before = await read(stores)
    await start(stores)
    await finish(stores)
    assert await read(stores) == replace(before, title="Ferries")


async def test_without_a_title_the_first_line_stays(stores: Stores) -> None:
    await start(stores)
    await finish(stores, "", Status.FAILED)
    assert (await read(stores)).title == LINE


async def test_it_leaves_no_message(stores: Stores) -> None:
    await start(stores)
    await finish(stores)
    assert [message.number for message in await stores.conversations.list_messages(CHAT.id)] == [1, 2]


async def test_a_name_that_a_person_gave_meanwhile_stays(stores: Stores) -> None:
    await start(stores)
    await name(stores)
    await finish(stores)
    assert (await read(stores)).title == "Mine"


async def test_a_person_who_names_meanwhile_is_not_refused(stores: Stores) -> None:
    stored = await read(stores)
    await start(stores)
    await finish(stores)
    named = replace(stored, title="Mine", is_named=True, updated_at=LATER)
    assert await stores.conversations.update(named, ("title", "is_named"), since=stored.updated_at)


async def test_it_is_started_once(stores: Stores) -> None:
    first = await start(stores)
    await stores.conversations.start_title(replace(first, created_at=LATER, input="otherwise"), most=9)
    assert await stores.executions.get(TITLE) == first


async def test_one_that_has_ended_is_not_started_again(stores: Stores) -> None:
    first = await start(stores)
    await finish(stores)
    occupied = await stores.conversations.start_title(replace(first, created_at=LATER), most=9)
    assert (occupied.queued, (await stores.executions.get(TITLE)).status) == ({}, Status.COMPLETED)


async def test_the_next_answer_does_not_wait_for_it(stores: Stores) -> None:
    await start(stores)
    await ask(stores, 2, Question(content="And?"))
    assert (await stores.executions.claim("exec_2", slice=0, holder="h", now=LATER, lease=LEASE))[1]


async def test_it_does_not_wait_for_an_answer(stores: Stores) -> None:
    await ask(stores, 2, Question(content="And?"))
    await start(stores)
    assert (await stores.executions.claim(TITLE, slice=0, holder="h", now=LATER, lease=LEASE))[1]


async def test_none_is_started_in_a_conversation_that_a_person_has_named(stores: Stores) -> None:
    await name(stores)
    with pytest.raises(TitleNotNeededError):
        await start(stores)
    assert await stores.executions.get(TITLE) is None


async def test_none_is_started_in_a_conversation_that_is_being_deleted(stores: Stores) -> None:
    await start_deletion(stores)
    with pytest.raises(TitleNotNeededError):
        await start(stores)
    assert await stores.executions.get(TITLE) is None


async def test_none_is_started_by_a_task_that_is_disabled(stores: Stores) -> None:
    await stores.tasks.update(replace(TASK, enabled=False, updated_at=LATER), ["enabled"], since=TASK.updated_at)
    with pytest.raises(TaskDisabledError):
        await start(stores)


async def test_none_is_started_where_too_many_are_queued(stores: Stores) -> None:
    with pytest.raises(TooManyQueuedError):
        await start(stores, most=0)
    assert await stores.executions.get(TITLE) is None


async def test_one_that_is_cancelled_before_it_begins_leaves_the_first_line(stores: Stores) -> None:
    await start(stores)
    await stores.executions.cancel(TITLE, by="ann", now=LATER)
    stored = await read(stores)
    assert (stored.title, stored.pending) == (LINE, ())


async def test_it_is_deleted_with_its_conversation(stores: Stores) -> None:
    await start(stores)
    await finish(stores)
    job = await start_deletion(stores)
    claimed, _ = await stores.jobs.claim(job.id, slice=0, holder="h", now=LATER, lease=LEASE)
    for part in list_parts(JobKind.DELETE_CONVERSATION):
        claimed = (await stores.job_work.delete(claimed, part, most=50, now=LATER, lease=LEASE)).job
    assert (await stores.executions.get(TITLE), claimed.counts["executions"]) == (None, 2)

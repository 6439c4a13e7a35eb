"""Conversations on both stores: messages are numbered once, answers come in order, each once its execution has ended."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from ferryman.domain.conversations.asking import Question
from ferryman.domain.conversations.conversation import Conversation, ConversationGoneError
from ferryman.domain.conversations.message import AnswerState, Speaker, select_branch
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.occupancy import AnswerNotNextError, TooManyQueuedError
from ferryman.domain.jobs.job import Job, JobKind
from ferryman.domain.jobs.parts import list_parts
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.agent import Agent, AgentGoneError
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace
from ferryman.ports.conversations import StartedAnswer
from ferryman.ports.errors import TaskDisabledError
from ferryman.ports.executions import ExecutionEnding

from .conftest import Stores
from .values import EXECUTION, LATER, LEASE, NOW, OWNER, TASK

WORKSPACE = derive_default_workspace("ann")
CHAT = Conversation(
    id="conv_1",
    owner="ann",
    workspace=WORKSPACE,
    agent=derive_default_agent(WORKSPACE),
    task="task_1",
    created_at=NOW,
    updated_at=NOW,
)
HELLO = Question(content="Where is the ferry?\nI wait.")


@pytest.fixture
async def stores(stores: Stores) -> Stores:
    await stores.owners.put(OWNER)
    await stores.tasks.create(TASK)
    await stores.conversations.create(CHAT)
    return stores


async def ask(stores: Stores, number: int, question: Question = HELLO, *, most: int = 100) -> StartedAnswer:
    execution = replace(EXECUTION, id=f"exec_{number}", conversation=CHAT.id, created_at=NOW + timedelta(seconds=number))
    return await stores.conversations.ask(CHAT, question, execution, most=most)


async def claim(stores: Stores, number: int):
    return await stores.executions.claim(f"exec_{number}", slice=0, holder="h", now=LATER, lease=LEASE)


async def answer(stores: Stores, number: int, text: str = "In Harwich.") -> None:
    claimed, _ = await claim(stores, number)
    await stores.executions.finish(claimed, ExecutionEnding(status=Status.COMPLETED, output=text), now=LATER)


async def read(stores: Stores) -> Conversation:
    stored = await stores.conversations.get(CHAT.id, owner="ann", workspace=WORKSPACE)
    assert stored is not None
    return stored


async def test_a_question_is_stored_with_its_execution(stores: Stores) -> None:
    started = await ask(stores, 1)
    (message,) = await stores.conversations.list_messages(CHAT.id)
    execution = await stores.executions.get("exec_1")
    assert execution is not None
    assert (message.number, message.parent, message.role, message.content) == (1, 0, Speaker.USER, HELLO.content)
    assert (execution.question, execution.answer, started.question.execution.answer) == (1, 2, 2)
    assert "exec_1" in started.occupancy.queued


async def test_the_first_question_names_the_conversation(stores: Stores) -> None:
    await ask(stores, 1)
    await ask(stores, 2, Question(content="And now?"))
    assert (await read(stores)).title == "Where is the ferry?"


async def test_an_answer_is_there_once_its_execution_has_ended(stores: Stores) -> None:
    await ask(stores, 1)
    await answer(stores, 1)
    stored = await read(stores)
    branch = select_branch(await stores.conversations.list_messages(CHAT.id), stored.head)
    assert [(message.role, message.content) for message in branch] == [
        (Speaker.USER, HELLO.content),
        (Speaker.ASSISTANT, "In Harwich."),
    ]
    assert (branch[1].state, branch[1].execution, stored.pending) == (AnswerState.COMPLETE, "exec_1", ())


async def test_an_answer_waits_for_those_that_were_asked_for_before(stores: Stores) -> None:
    await ask(stores, 1)
    await ask(stores, 2)
    with pytest.raises(AnswerNotNextError):
        await claim(stores, 2)
    await answer(stores, 1)
    assert (await claim(stores, 2))[1]


async def test_an_answer_that_is_cancelled_before_it_begins_is_stopped_and_lets_the_next_come(stores: Stores) -> None:
    await ask(stores, 1)
    await ask(stores, 2)
    await stores.executions.cancel("exec_1", by="ann", now=LATER)
    (stopped,) = await stores.conversations.get_messages(CHAT.id, [2])
    assert (stopped.state, stopped.content) == (AnswerState.STOPPED, "")
    assert (await claim(stores, 2))[1]


async def test_one_that_is_to_be_cancelled_ends_before_its_turn(stores: Stores) -> None:
    await ask(stores, 1)
    await answer(stores, 1)
    await ask(stores, 2)
    claimed, _ = await claim(stores, 2)
    await ask(stores, 3)
    await stores.executions.cancel("exec_3", by="ann", now=LATER)
    await stores.executions.finish(claimed, ExecutionEnding(status=Status.FAILED, error="no credits"), now=LATER)
    stored = await stores.conversations.get_messages(CHAT.id, [4, 6])
    assert [message.state for message in stored] == [AnswerState.FAILED, AnswerState.STOPPED]
    assert (await read(stores)).pending == ()


async def test_another_answer_is_a_branch_beside_the_first(stores: Stores) -> None:
    await ask(stores, 1)
    await answer(stores, 1, "In Harwich.")
    await ask(stores, 2, Question(again=1))
    await answer(stores, 2, "In Dover.")
    messages = await stores.conversations.list_messages(CHAT.id)
    assert [(message.number, message.parent) for message in messages] == [(1, 0), (2, 1), (3, 1)]
    assert select_branch(messages, (await read(stores)).head)[-1].content == "In Dover."


async def test_an_edit_is_a_branch_from_the_parent(stores: Stores) -> None:
    await ask(stores, 1)
    await answer(stores, 1)
    await ask(stores, 2, Question(content="Where is the train?", parent=0))
    await answer(stores, 2, "In Ely.")
    messages = await stores.conversations.list_messages(CHAT.id)
    assert [message.content for message in select_branch(messages, 4)] == ["Where is the train?", "In Ely."]


async def test_questions_that_come_at_once_are_all_numbered_and_in_order(stores: Stores) -> None:
    await asyncio.gather(*(ask(stores, number, Question(content=f"question {number}")) for number in range(1, 13)))
    stored = await read(stores)
    assert [item.number for item in stored.pending] == list(range(2, 25, 2))
    assert {item.execution for item in stored.pending} == {f"exec_{number}" for number in range(1, 13)}
    for item in stored.pending:
        await answer(stores, int(item.execution.removeprefix("exec_")))
    assert len(await stores.conversations.list_messages(CHAT.id)) == 24


async def test_nothing_is_stored_where_too_many_are_queued(stores: Stores) -> None:
    await ask(stores, 1, most=1)
    with pytest.raises(TooManyQueuedError):
        await ask(stores, 2, most=1)
    assert [message.number for message in await stores.conversations.list_messages(CHAT.id)] == [1]


async def test_a_task_that_is_disabled_answers_nothing(stores: Stores) -> None:
    await stores.tasks.update(replace(TASK, enabled=False, updated_at=LATER), ["enabled"], since=TASK.updated_at)
    with pytest.raises(TaskDisabledError):
        await ask(stores, 1)


async def test_a_conversation_of_another_workspace_is_not_there(stores: Stores) -> None:
    assert await stores.conversations.get(CHAT.id, owner="ann", workspace="ws_other") is None
    assert await stores.conversations.get(CHAT.id, owner="bob", workspace=WORKSPACE) is None
    with pytest.raises(ConversationGoneError):
        await stores.conversations.ask(replace(CHAT, owner="bob"), HELLO, replace(EXECUTION, conversation=CHAT.id), most=9)


async def test_conversations_are_listed_the_newest_first_page_by_page(stores: Stores) -> None:
    for number in (2, 3):
        await stores.conversations.create(replace(CHAT, id=f"conv_{number}", created_at=NOW + timedelta(seconds=number)))
    first = await stores.conversations.list("ann", WORKSPACE, most=2)
    rest = await stores.conversations.list("ann", WORKSPACE, after=first.end, most=2)
    assert [[item.id for item in page.items] for page in (first, rest)] == [["conv_3", "conv_2"], ["conv_1"]]
    assert rest.end is None
    assert (await stores.conversations.list("ann", WORKSPACE, agent="agent_other")).items == ()


async def test_a_name_is_kept_unless_somebody_else_has_changed_it(stores: Stores) -> None:
    named = replace(CHAT, title="Ferries", is_named=True, updated_at=LATER)
    assert await stores.conversations.update(named, ["title", "is_named"], since=NOW)
    with pytest.raises(StaleError):
        await stores.conversations.update(named, ["title"], since=NOW)
    assert (await read(stores)).title == "Ferries"


@pytest.mark.parametrize("stored", [True, False])
async def test_no_conversation_begins_with_an_agent_that_is_not_there(stores: Stores, stored: bool):
    chat = replace(CHAT, id="conv_2", agent="agent_gone" if stored else "agent_2")
    if stored:
        place = {"owner": "ann", "workspace": WORKSPACE, "created_at": NOW}
        await stores.agents.create(Agent(id="agent_gone", name="a", updated_at=NOW, **place))
        await stores.jobs.start(Job(id="job_1", kind=JobKind.DELETE_AGENT, subject="agent_gone", **place))
    with pytest.raises(AgentGoneError):
        await stores.conversations.create(chat)
    assert await stores.conversations.get("conv_2", owner="ann", workspace=WORKSPACE) is None


async def test_a_conversation_that_is_being_deleted_is_not_there(stores: Stores):
    await ask(stores, 1)
    await start_deletion(stores)
    assert await stores.conversations.get(CHAT.id, owner="ann", workspace=WORKSPACE) is None
    assert list(await stores.conversations.list("ann", WORKSPACE)) == []
    with pytest.raises(ConversationGoneError):
        await ask(stores, 2)


async def test_only_a_conversation_that_is_there_is_deleted(stores: Stores):
    with pytest.raises(KeyError):
        await start_deletion(stores, owner="bob")
    with pytest.raises(KeyError):
        await start_deletion(stores, workspace="ws_2")
    await start_deletion(stores)
    with pytest.raises(KeyError):
        await start_deletion(stores, id="job_2")


async def test_with_a_conversation_go_its_messages_and_its_executions_and_nothing_else(stores: Stores):
    await ask(stores, 1)
    await answer(stores, 1)
    await stores.conversations.create(replace(CHAT, id="conv_2"))
    other = replace(EXECUTION, id="exec_other", conversation="conv_2", created_at=LATER)
    await stores.conversations.ask(replace(CHAT, id="conv_2"), HELLO, other, most=9)
    job = await start_deletion(stores)
    claimed, _ = await stores.jobs.claim(job.id, slice=0, holder="h", now=LATER, lease=LEASE)
    for part in list_parts(JobKind.DELETE_CONVERSATION):
        deleted = await stores.job_work.delete(claimed, part, most=50, now=LATER, lease=LEASE)
        claimed = deleted.job
    assert claimed.counts == {"conversations": 1, "messages": 2, "executions": 1}
    assert list(await stores.conversations.list_messages(CHAT.id)) == []
    assert await stores.executions.get("exec_1") is None
    assert await stores.executions.get("exec_other") is not None
    assert len(await stores.conversations.list_messages("conv_2")) == 1


async def start_deletion(stores: Stores, **fields: object) -> Job:
    job = Job(
        **{"id": "job_1", "owner": "ann", "workspace": WORKSPACE, "created_at": LATER, **fields},
        kind=JobKind.DELETE_CONVERSATION,
        subject=CHAT.id,
    )
    await stores.jobs.start(job)
    return job

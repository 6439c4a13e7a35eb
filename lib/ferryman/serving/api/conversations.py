"""Conversations over HTTP: begun, listed, renamed, watched and stopped; what is said in them is in `chat`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response, StreamingResponse

from ferryman.composition.api import ApiDependencies
from ferryman.domain.changes import change_value
from ferryman.domain.conversations.conversation import MESSAGES_MAX, Conversation
from ferryman.domain.ids import is_id
from ferryman.domain.jobs.job import JobKind
from ferryman.domain.problem import build_input_error
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.names import derive_default_agent
from ferryman.serving.api.access import READS, CurrentCaller, Dependencies, Manager, Reader, Runner
from ferryman.serving.api.agents import find_agent
from ferryman.serving.api.answer_stream import stream_answer
from ferryman.serving.api.cancelling import cancel
from ferryman.serving.api.chat_tasks import provide_chat_task
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.event_stream import HEADERS
from ferryman.serving.api.executions import EVENTS
from ferryman.serving.api.idempotency import Idempotency, IdempotentRoute
from ferryman.serving.api.jobs import answer_again, build_job, find_started_job, start_job
from ferryman.serving.api.paging import ByTime
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes import conversation as shapes
from ferryman.serving.api.shapes.job import JobResponse
from ferryman.serving.api.stream_request import StreamChoice

router = APIRouter(route_class=IdempotentRoute, prefix="/v1/conversations", tags=["conversations"])

OfAgent = Annotated[str | None, Query(max_length=64, description="Only those with this agent")]
AnswerNumber = Annotated[
    int | None, Query(ge=1, le=MESSAGES_MAX, description="The number of the answer; without it the one that is waited for")
]


async def find_conversation(deps: ApiDependencies, caller: Caller, conversation: str) -> Conversation:
    """Return the conversation of this id in the caller's workspace. Raise `NotFoundError`."""
    known = deps.conversations
    stored = await known.get(conversation, owner=caller.owner.id, workspace=caller.workspace) if is_id(conversation) else None
    if stored is None:
        raise NotFoundError("conversation")
    return stored


async def _conversation(conversation_id: str, deps: Dependencies, caller: CurrentCaller) -> Conversation:
    return await find_conversation(deps, caller, conversation_id)


OwnedConversation = Annotated[Conversation, Depends(_conversation)]


async def begin_conversation(
    deps: ApiDependencies, caller: Caller, task: Task, *, name: str, now: datetime, title: str = ""
) -> Conversation:
    """Store a conversation with `task`, or return the one of this name: an earlier attempt has stored it."""
    place = {"owner": caller.owner.id, "workspace": caller.workspace}
    stored = await deps.conversations.get(name, **place)
    if stored is not None:
        return stored
    conversation = build_conversation(caller, task, name=name, now=now, title=title)
    await deps.conversations.create(conversation)
    return conversation


def build_conversation(caller: Caller, task: Task, *, name: str, now: datetime, title: str = "") -> Conversation:
    """Return a new conversation with `task`, without messages."""
    return Conversation(
        id=name,
        owner=caller.owner.id,
        workspace=caller.workspace,
        agent=task.agent,
        task=task.id,
        person=caller.person,
        title=title,
        is_named=bool(title),
        created_at=now,
        updated_at=now,
    )


@router.post("", status_code=201, summary="Begin a conversation, with an agent or a task")
async def create_conversation(
    deps: Dependencies, caller: Runner, once: Idempotency, response: Response, body: shapes.NewConversation | None = None
) -> shapes.ConversationResponse:
    request = body or shapes.NewConversation()
    task = await _find_task(deps, caller, request)
    title = request.title or ""
    conversation = build_conversation(caller, task, name=once.name("conv"), now=once.now, title=title)
    answer, location = shapes.to_conversation(conversation), f"/v1/conversations/{conversation.id}"
    await deps.conversations.create(conversation, done=await once.complete(201, answer, location=location))
    response.headers["Location"] = location
    return answer


@router.get("", summary="The workspace's conversations, newest first")
async def list_conversations(
    deps: Dependencies, caller: Reader, paging: ByTime, agent: OfAgent = None
) -> shapes.ConversationList:
    page = await deps.conversations.list(caller.owner.id, caller.workspace, agent=agent, after=paging.after, most=paging.limit)
    return shapes.ConversationList(conversations=tuple(map(shapes.to_conversation, page)), next=paging.write_next(page.end))


@router.get("/{conversation_id}", dependencies=[READS], summary="One conversation")
async def get_conversation(conversation: OwnedConversation) -> shapes.ConversationResponse:
    return shapes.to_conversation(conversation)


@router.patch("/{conversation_id}", summary="Rename a conversation")
async def change_conversation(
    body: shapes.ConversationChange, conversation: OwnedConversation, deps: Dependencies, _: Runner
) -> shapes.ConversationResponse:
    title = " ".join(body.title.split())
    if not title:
        raise build_input_error("title", "must not be empty")
    changed = change_value(conversation, {"title": title, "is_named": True}, now=deps.clock.now())
    if not await deps.conversations.update(changed, ("title", "is_named"), since=conversation.updated_at):
        raise NotFoundError("conversation")
    return shapes.to_conversation(changed)


@router.delete("/{conversation_id}", status_code=202, summary="Delete a conversation with its messages")
async def delete_conversation(
    conversation_id: str, deps: Dependencies, caller: Manager, request: Request, response: Response
) -> JobResponse:
    try:
        conversation = await find_conversation(deps, caller, conversation_id)
        return await start_job(deps, caller, build_job(deps, caller, JobKind.DELETE_CONVERSATION, conversation.id), response)
    except NotFoundError:
        started = await find_started_job(deps, caller, (JobKind.DELETE_CONVERSATION,), conversation_id)
        if started is None:
            raise
        return answer_again(started, request, response)


@router.post("/{conversation_id}/stop", summary="Stop: no answer that is waited for goes on")
async def cancel_answers(
    conversation: OwnedConversation, deps: Dependencies, caller: Runner, answer: AnswerNumber = None
) -> shapes.ConversationResponse:
    # the last first: none begins because the one before it has ended
    for pending in reversed(conversation.pending):
        if answer in (None, pending.number):
            await cancel(deps, caller, pending.execution)
    return shapes.to_conversation(await find_conversation(deps, caller, conversation.id))


@router.get(
    "/{conversation_id}/events",
    dependencies=[READS],
    summary="The events of an answer as they happen (server-sent events)",
    response_class=StreamingResponse,
    responses=EVENTS,
)
async def watch_conversation(
    conversation: OwnedConversation,
    deps: Dependencies,
    caller: CurrentCaller,
    request: StreamChoice,
    answer: AnswerNumber = None,
) -> Response:
    number = answer or request.answer or (conversation.pending[0].number if conversation.pending else 0)
    execution = next((item.execution for item in conversation.pending if item.number == number), None)
    if execution is None:
        stored = await deps.conversations.get_messages(conversation.id, [number]) if number else ()
        execution = stored[0].execution if stored else None
    stored_execution = await deps.executions.get(execution) if execution else None
    if stored_execution is None:
        return Response(status_code=204, headers=HEADERS)
    return await stream_answer(deps, caller, stored_execution, request)


async def _find_task(deps: ApiDependencies, caller: Caller, request: shapes.NewConversation) -> Task:
    if request.task_id is None:
        agent = await find_agent(deps, caller, request.agent_id or derive_default_agent(caller.workspace))
        return await provide_chat_task(deps, caller, agent)
    task = await deps.tasks.get(request.task_id) if is_id(request.task_id) else None
    if task is None or not caller.sees(task):
        raise NotFoundError("task")
    if request.agent_id not in (None, task.agent):
        raise NotFoundError("agent")
    return task

"""Messages over HTTP: what people say in conversations, and the answers to it."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from starlette.requests import Request
from starlette.responses import Response

from ferryman.composition.api import ApiDependencies
from ferryman.domain.conversations.asking import AskedQuestion, Question
from ferryman.domain.conversations.conversation import MESSAGES_MAX, ROOT, Conversation
from ferryman.domain.conversations.message import Message, Speaker
from ferryman.domain.owners.idempotency import KeyedRequest
from ferryman.domain.tasks.task import Task
from ferryman.serving.api.access import READS, Dependencies, Runner
from ferryman.serving.api.answering import build_answer_response
from ferryman.serving.api.asking import Asking, check_model, read_question, write_input
from ferryman.serving.api.branches import read_branch
from ferryman.serving.api.chat_tasks import TASK_GONE, find_chat_task
from ferryman.serving.api.conversations import OwnedConversation, begin_conversation, find_conversation
from ferryman.serving.api.errors import ConflictError, NotFoundError
from ferryman.serving.api.execution_start import check_start
from ferryman.serving.api.executions import EVENTS
from ferryman.serving.api.idempotency import Idempotency, IdempotentRequest, IdempotentRoute
from ferryman.serving.api.paging import ByNumber
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes import conversation as shapes
from ferryman.serving.api.stream_request import ChosenFormat, StreamRequest, read_from

Traceparent = Annotated[str, Header(description="A trace to go on with, as W3C's Trace Context writes it")]
BranchEnd = Annotated[
    int | None,
    Query(
        ge=1,
        le=MESSAGES_MAX,
        description="Only the branch that ends with this message, the newest first; without it all, the oldest first",
    ),
]
RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The answer, or with `stream` its events as they happen", "content": EVENTS[200]["content"]},
    202: {
        "description": "It takes longer: read on at `events`, or ask with the same Idempotency-Key again",
        "model": shapes.ChatResponse,
    },
}


class ChatRoute(IdempotentRoute):
    """A route whose answer is not kept but made again for a retry: the same one, also where it had not ended then."""

    async def replay(self, request: Request, once: IdempotentRequest, answered: KeyedRequest) -> Response:
        """Return the answer to the question that `answered` has stored: it is waited for, or its events are sent."""
        stored = await once.replay(answered)
        if stored.status_code != 200:
            return stored
        known = json.loads(bytes(stored.body))
        execution = await once.deps.executions.get(known["execution"])
        if execution is None:
            raise NotFoundError("conversation")
        chosen = read_from(request)
        response = await build_answer_response(once.deps, once.caller, execution, chosen, stream=known["stream"])
        response.headers["Idempotency-Replayed"] = "true"
        return response


router = APIRouter(route_class=ChatRoute, tags=["conversations"])


@router.post(
    "/api/agents/{agent_id}/chat", response_model=shapes.ChatResponse, responses=RESPONSES, summary="Say something to an agent"
)
async def create_chat_message(
    agent_id: str,
    body: shapes.NewChatMessage,
    deps: Dependencies,
    caller: Runner,
    once: Idempotency,
    chosen: ChosenFormat,
    traceparent: Traceparent = "",
) -> Response:
    if body.conversation_id is None:
        task = await find_chat_task(deps, caller, agent_id)
        question = await read_question(deps, caller, task, body)
        plan = await check_start(deps, caller)
        conversation = await begin_conversation(deps, caller, task, name=once.name("conv"), now=once.now)
    else:
        conversation = await find_conversation(deps, caller, body.conversation_id)
        if agent_id not in (conversation.agent, conversation.task):
            raise NotFoundError("conversation")
        task = await _find_task(deps, caller, conversation)
        question = await read_question(deps, caller, task, body)
        plan = await check_start(deps, caller)
    asking = Asking(deps=deps, caller=caller, conversation=conversation, task=task, plan=plan, traceparent=traceparent)
    stored = await asking.ask(question, body, once, content=write_input(question))
    return await _respond(deps, caller, stored, body, chosen)


@router.get("/v1/conversations/{conversation_id}/messages", dependencies=[READS], summary="Messages of a conversation")
async def list_messages(
    conversation: OwnedConversation, deps: Dependencies, paging: ByNumber, branch: BranchEnd = None
) -> shapes.MessageList:
    if branch is None:
        stored = await deps.conversations.list_messages(conversation.id, after=paging.after or 0, most=paging.limit + 1)
        here, end = stored[: paging.limit], stored[paging.limit - 1].number if len(stored) > paging.limit else None
    else:
        last = branch if paging.after is None else paging.after
        here, end = await read_branch(deps, conversation, last, most=paging.limit)
    return shapes.MessageList(messages=tuple(map(shapes.to_message, here)), next=paging.write_next(end))


@router.post(
    "/v1/conversations/{conversation_id}/messages",
    response_model=shapes.ChatResponse,
    responses=RESPONSES,
    summary="Say something",
)
async def create_message(
    conversation: OwnedConversation,
    body: shapes.NewMessage,
    deps: Dependencies,
    caller: Runner,
    once: Idempotency,
    chosen: ChosenFormat,
    traceparent: Traceparent = "",
) -> Response:
    task = await _find_task(deps, caller, conversation)
    parent = await _find_parent(deps, conversation, body)
    question = await read_question(deps, caller, task, body, parent=parent)
    plan = await check_start(deps, caller)
    asking = Asking(deps=deps, caller=caller, conversation=conversation, task=task, plan=plan, traceparent=traceparent)
    stored = await asking.ask(question, body, once, content=write_input(question))
    return await _respond(deps, caller, stored, body, chosen)


@router.post(
    "/v1/conversations/{conversation_id}/messages/{message_number}/regenerate",
    response_model=shapes.ChatResponse,
    responses=RESPONSES,
    summary="Ask for another answer",
)
async def create_answer(
    conversation: OwnedConversation,
    message_number: int,
    deps: Dependencies,
    caller: Runner,
    once: Idempotency,
    chosen: ChosenFormat,
    body: shapes.AnswerRequest | None = None,
    traceparent: Traceparent = "",
) -> Response:
    request = body or shapes.AnswerRequest()
    task = await _find_task(deps, caller, conversation)
    await check_model(deps, caller, task, request.model)
    earlier = await _find_message(deps, conversation, message_number)
    if earlier.role is Speaker.ASSISTANT:
        earlier = await _find_message(deps, conversation, earlier.parent)
    plan = await check_start(deps, caller)
    asking = Asking(deps=deps, caller=caller, conversation=conversation, task=task, plan=plan, traceparent=traceparent)
    repeated = Question(content=earlier.content, attachments=earlier.attachments)
    stored = await asking.ask(Question(again=earlier.number), request, once, content=write_input(repeated))
    return await _respond(deps, caller, stored, request, chosen)


async def _respond(
    deps: ApiDependencies, caller: Caller, stored: AskedQuestion, body: shapes.AnswerRequest, chosen: StreamRequest
) -> Response:
    return await build_answer_response(deps, caller, stored.execution, chosen, stream=body.stream, is_new=True)


async def _find_task(deps: ApiDependencies, caller: Caller, conversation: Conversation) -> Task:
    """Return the conversation's task; a chat task that was deleted is made again. Raise 409 where there is none."""
    task = await deps.tasks.get(conversation.task)
    if task is not None and caller.sees(task):
        return task
    task_again = await find_chat_task(deps, caller, conversation.agent)
    if task_again.id != conversation.task:
        raise ConflictError(TASK_GONE)
    return task_again


async def _find_parent(deps: ApiDependencies, conversation: Conversation, body: shapes.NewMessage) -> int | None:
    """Return the parent that a new message names, None for the end of the shown branch. Raise 404 or 409."""
    if body.edits is not None:
        edited = await _find_message(deps, conversation, body.edits)
        if edited.role is not Speaker.USER or body.after is not None:
            raise ConflictError("a person's message is edited, in its own place: give edits alone, and the number of one")
        return edited.parent
    if body.after is None:
        return None
    parent = await _find_message(deps, conversation, body.after)
    if parent.role is not Speaker.ASSISTANT:
        raise ConflictError("a message follows an answer: give the number of one as after")
    return parent.number


async def _find_message(deps: ApiDependencies, conversation: Conversation, number: int) -> Message:
    stored = await deps.conversations.get_messages(conversation.id, [number]) if ROOT < number < 1_000_000 else ()
    if not stored:
        raise NotFoundError("message")
    return stored[0]

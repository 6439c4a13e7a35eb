"""Asking over HTTP: a question is checked, stored with the execution that answers it, and put into the queue."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.responses import Response

from ferryman.catalog.tools import NO_BUCKET, keeps_files
from ferryman.composition.api import ApiDependencies
from ferryman.domain.conversations.asking import AskedQuestion, Question
from ferryman.domain.conversations.conversation import Conversation, ConversationGoneError
from ferryman.domain.conversations.message import Attachment
from ferryman.domain.conversations.turns import write_question
from ferryman.domain.executions.execution import Execution
from ferryman.domain.files.keys import clean_key
from ferryman.domain.owners.plan import Plan
from ferryman.domain.problem import InvalidInputError, Problem, build_input_error
from ferryman.domain.tasks.task import Task, find_key_problems, find_model_problems
from ferryman.serving.api.chat_tasks import find_agent_model
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.execution_start import enqueue_first, translate_refusals
from ferryman.serving.api.idempotency import IdempotentRequest
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes.conversation import AnswerRequest, NewChatMessage, NewMessage
from ferryman.watching.relays import RELAYED_FIRST

NO_MODEL = "is required: neither the task nor its agent names one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who asks, in which conversation, with which task and traced as what; `is_from_client`: through an MCP client.

    `plan` is what `check_start` returned: it is asked before a conversation is begun, so that a refused question leaves none.
    """

    deps: ApiDependencies
    caller: Caller
    conversation: Conversation
    task: Task
    plan: Plan
    traceparent: str
    is_from_client: bool = False

    async def ask(self, question: Question, body: AnswerRequest, once: IdempotentRequest, *, content: str) -> AskedQuestion:
        """Store a question and start its answer; `content` is what the model reads. Return what was stored.

        Raise 404 where the conversation is gone, 409 where nothing is started, and 429 where too many
        executions are queued.
        """
        deps, caller, task = self.deps, self.caller, self.task
        plan, name = self.plan, deps.ids.new("exec")
        about = {"gen_ai.agent.id": task.id, "gen_ai.conversation.id": self.conversation.id}
        with deps.tracer.span("start_execution", about, kind="server", parent=self.traceparent):
            execution = Execution(
                id=name,
                task=task.id,
                owner=task.owner,
                workspace=task.workspace,
                agent=task.agent,
                person=caller.person,
                conversation=self.conversation.id,
                input=content,
                model=body.model or "",
                enable_tools=body.enable_tools,
                is_from_client=self.is_from_client,
                created_at=deps.clock.now(),
                trace=deps.tracer.traceparent(),
            )
            done = await once.complete(200, Response(json.dumps({"execution": name, "stream": body.stream})))
            try:
                with translate_refusals(task):
                    started = await deps.conversations.ask(
                        self.conversation, question, execution, most=plan.executions_queued, done=done
                    )
            except ConversationGoneError:
                raise NotFoundError("conversation") from None
            after = started.occupancy.pause_start(
                started.question.execution, most=plan.executions_running, now=execution.created_at
            )
            if body.stream and not after and deps.hub.begin(started.question.execution):
                after = RELAYED_FIRST
            await enqueue_first(deps, name, after=after)
        await deps.tracer.flush()
        return started.question


async def check_model(deps: ApiDependencies, caller: Caller, task: Task, chosen: str | None) -> None:
    """Raise `InvalidInputError` where nobody names a model, or the `chosen` one cannot be used; 404 or 409 for the agent."""
    known = await find_agent_model(deps, caller, task)
    if (chosen or task.model or known) is None:
        raise build_input_error("model", NO_MODEL)
    if chosen is not None:
        problems = find_model_problems(chosen, frozenset(deps.models))
        problems += find_key_problems(chosen, deps.models, deps.usable_models, deps.model_keys)
        if problems:
            raise InvalidInputError(problems)


async def read_question(
    deps: ApiDependencies, caller: Caller, task: Task, body: NewMessage | NewChatMessage, *, parent: int | None = None
) -> Question:
    """Return the question that `body` asks, with its files. Raise as `check_model` does, and for text and files."""
    await check_model(deps, caller, task, body.model)
    if not body.content.strip():
        raise build_input_error("content", "must not be empty")
    return Question(content=body.content, attachments=await find_attachments(deps, caller, body.attachments), parent=parent)


async def find_attachments(deps: ApiDependencies, caller: Caller, keys: Sequence[str]) -> tuple[Attachment, ...]:
    """Return the files of these keys as they are now. Raise `InvalidInputError` with those that are not there."""
    attachments: list[Attachment] = []
    problems: list[Problem] = []
    if keys and not keeps_files(deps.tools):
        raise build_input_error("attachments", NO_BUCKET)
    for index, key in enumerate(keys):
        file = await deps.files.head(caller.workspace, key) if _is_key(key) else None
        if file is None:
            problems.append(Problem(f"attachments.{index}", "is no file of this workspace"))
        elif any(known.key == key for known in attachments):
            problems.append(Problem(f"attachments.{index}", "is attached twice"))
        else:
            attachments.append(Attachment(key=key, etag=file.version, media_type=file.content_type, size_bytes=file.size_bytes))
    if problems:
        raise InvalidInputError(problems)
    return tuple(attachments)


def _is_key(key: str) -> bool:
    try:
        return clean_key(key) == key
    except InvalidInputError:
        return False


def write_input(question: Question) -> str:
    """Return a question as the model reads it."""
    return write_question(question.content, question.attachments)

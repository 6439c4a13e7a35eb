"""Answers over HTTP: sent once they have ended, or after some time as they are then, or as events while they happen."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from ferryman.composition.api import ApiDependencies
from ferryman.domain.executions.execution import Execution
from ferryman.domain.workspaces.member import Right
from ferryman.ports.errors import UnavailableError
from ferryman.ports.notices import Notice
from ferryman.serving.api.access import build_unauthorized_error
from ferryman.serving.api.answer_stream import stream_answer
from ferryman.serving.api.revocation import still_has_right
from ferryman.serving.api.rights import Caller
from ferryman.serving.api.shapes import conversation as shapes
from ferryman.serving.api.stream_request import StreamRequest
from ferryman.serving.problems import create_problem

LOOK_S = 1.0
"""After how many seconds it is looked for an answer, and for the right to it, where nothing is told of it before."""


async def build_answer_response(
    deps: ApiDependencies, caller: Caller, execution: Execution, request: StreamRequest, *, stream: bool, is_new: bool = False
) -> Response:
    """Return the response to who asked a question that is stored: its events, or the answer itself.

    Where as many streams are open as may be, an answer is sent as it is now: 202 where it has not ended.
    """
    if stream:
        try:
            return await stream_answer(deps, caller, execution, request, is_new=is_new)
        except HTTPException as full:
            if full.status_code != 429:
                raise
    most_s = 0.0 if stream else deps.answer_wait_s
    return AnswerResponse(deps, caller, execution, most_s=most_s)


class AnswerResponse(Response):
    """The answer of an execution as JSON: 200 once it has ended, and 202 where that takes longer than `most_s` seconds."""

    def __init__(self, deps: ApiDependencies, caller: Caller, execution: Execution, *, most_s: float) -> None:
        super().__init__()
        self._deps = deps
        self._caller = caller
        self._execution = execution
        self._most_s = most_s
        self._stream = deps.ids.new("stream")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await self._wait() if await self._hold() else await self._build(is_last=True)
        except UnavailableError:
            response = create_problem(503, "a service behind this one does not answer; the question is stored: read its answer")
        assert response is not None, "the last look has an answer"
        response.headers.update({name: value for name, value in self.headers.items() if name != "content-length"})
        await response(scope, receive, send)

    async def _hold(self) -> bool:
        """Count among the owner's open streams while it is waited; False where too many are, or nothing is waited for."""
        if not self._most_s:
            return False
        owner, now = self._caller.owner, self._deps.clock.now()
        plan = self._deps.plans.get(owner.plan)
        until = now + timedelta(seconds=self._most_s + 2 * LOOK_S)
        return await self._deps.streams.hold(
            owner.id, self._stream, now=now, until=until, most=1 if plan is None else plan.streams
        )

    async def _wait(self) -> Response | None:
        waited_s = 0.0
        try:
            async with AsyncExitStack() as stack:
                notice: Notice | None = None
                if self._deps.notices is not None:
                    notice = await stack.enter_async_context(self._deps.notices.follow(self._execution.id))
                while waited_s < self._most_s:
                    response = await self._build(is_last=False)
                    if response is not None:
                        return response
                    began = self._deps.clock.now()
                    if notice is None:
                        await asyncio.sleep(min(LOOK_S, self._deps.poll_s))
                        waited_s += self._deps.poll_s or LOOK_S
                    elif await notice.wait(LOOK_S):
                        waited_s += (self._deps.clock.now() - began).total_seconds()
                    else:
                        waited_s += LOOK_S
                return await self._build(is_last=True)
        finally:
            await asyncio.shield(self._release())

    async def _build(self, *, is_last: bool) -> Response | None:
        deps, execution = self._deps, self._execution
        if not await still_has_right(deps, self._caller, Right.RUN):
            refused = build_unauthorized_error()
            return create_problem(refused.status_code, refused.detail, headers=refused.headers)
        stored = await deps.conversations.get_messages(execution.conversation, [execution.question, execution.answer])
        by_number = {message.number: message for message in stored}
        answer = by_number.get(execution.answer)
        if answer is None and not is_last:
            return None
        question = by_number.get(execution.question)
        is_new = question is not None and execution.answer == execution.question + 1
        body = shapes.ChatResponse(
            conversation_id=execution.conversation,
            user_message=shapes.to_message(question) if question is not None and is_new else None,
            assistant_message=shapes.to_pending_answer(execution) if answer is None else shapes.to_message(answer),
            events=f"/v1/executions/{execution.id}/events",
        )
        location = {"Location": f"/v1/conversations/{execution.conversation}/messages"}
        return JSONResponse(body.model_dump(mode="json"), 202 if answer is None else 200, headers=location)

    async def _release(self) -> None:
        try:
            await self._deps.streams.release(self._caller.owner.id, self._stream)
        except UnavailableError as error:
            self._deps.tracer.line("stream.not_released", severity="WARNING", error=type(error).__name__)

"""Executions over HTTP: start, look, watch, cancel."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from starlette.responses import Response, StreamingResponse

from ferryman.domain.execution import Execution
from ferryman.domain.record import Record
from ferryman.serving import sse
from ferryman.serving.api.asking import By, TheHouse, TheirExecution, TheirTask
from ferryman.serving.api.faults import conflict, not_found
from ferryman.serving.api.shapes import call
from ferryman.serving.api.shapes import execution as shapes
from ferryman.serving.api.shapes import record as account

router = APIRouter(prefix="/v1", tags=["executions"])

Most = Annotated[int, Query(ge=1, le=100, description="How many, at most")]
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The events as they happen, until the execution has finished",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    204: {"description": "The execution has finished, and there is nothing after the last event that was seen"},
}


@router.post("/tasks/{task_id}/executions", status_code=202, summary="Start an execution")
async def start(
    task: TheirTask,
    house: TheHouse,
    owner: By,
    response: Response,
    asked: shapes.Start | None = None,
    traceparent: Annotated[str | None, Header(description="A trace to go on with, as W3C's Trace Context writes it")] = None,
) -> shapes.ExecutionShown:
    halted = await house.halts.standing(owner.id)
    if halted is not None:
        raise conflict(f"nothing is started: {halted}")
    name = house.ids.new("exec")
    about = {"gen_ai.agent.id": task.id, "gen_ai.conversation.id": name}
    with house.tracer.span("start_execution", about, kind="server", parent=traceparent or ""):
        execution = Execution(
            id=name,
            task=task.id,
            owner=owner.id,
            input=None if asked is None else asked.input,
            created_at=house.clock.now(),
            trace=house.tracer.traceparent(),
        )
        await house.executions.create(execution)
        try:
            await house.queue.enqueue(execution.id, slice=0)
        except Exception as error:  # noqa: BLE001 - the document is there, so it is started all the same: on_execution enqueues it
            fault = type(error).__name__
            house.tracer.line("execution.not_enqueued", severity="WARNING", execution=execution.id, error=fault)
    await house.tracer.flush()
    response.headers["Location"] = f"/v1/executions/{execution.id}"
    return shapes.shown(execution)


@router.get("/tasks/{task_id}/executions", summary="A task's executions, newest first")
async def of_task(task: TheirTask, house: TheHouse, owner: By, limit: Most = 50) -> shapes.ExecutionList:
    found = await house.executions.list(owner.id, task=task.id, most=limit)
    return shapes.ExecutionList(executions=tuple(shapes.shown(each) for each in found))


@router.get("/executions", summary="Your executions, newest first")
async def listed(house: TheHouse, owner: By, limit: Most = 50) -> shapes.ExecutionList:
    found = await house.executions.list(owner.id, most=limit)
    return shapes.ExecutionList(executions=tuple(shapes.shown(each) for each in found))


@router.get("/executions/{execution_id}", summary="One execution's record")
async def one(execution: TheirExecution) -> shapes.ExecutionShown:
    return shapes.shown(execution)


@router.post("/executions/{execution_id}/cancel", summary="Cancel: nothing more is sent, what is under way ends")
async def cancel(execution: TheirExecution, house: TheHouse) -> shapes.ExecutionShown:
    cancelled = await house.executions.cancel(execution.id, now=house.clock.now())
    if cancelled is None:
        raise not_found("execution")
    if not cancelled.status.terminal:
        try:
            # one that waits for its next slice is not to wait any longer
            await house.queue.enqueue(execution.id, slice=cancelled.slice, nudge="cancel")
        except Exception as error:  # noqa: BLE001 - the flag stands, and whoever runs it next sees it
            house.tracer.line("cancel.not_enqueued", severity="WARNING", execution=execution.id, error=type(error).__name__)
    return shapes.shown(cancelled)


@router.get("/executions/{execution_id}/calls", summary="An execution's calls, with their results in full")
async def calls(execution: TheirExecution, house: TheHouse) -> call.CallList:
    return call.CallList(calls=tuple(call.shown(each) for each in await house.executions.tickets(execution.id)))


@router.get("/executions/{execution_id}/record", summary="The full account of an execution, as one document")
async def record(execution: TheirExecution, house: TheHouse) -> account.RecordShown:
    # the execution was read before its parts: one that had ended has all of them
    known = Record(
        execution=execution,
        opening=await house.executions.opening(execution.id),
        steps=await house.executions.steps(execution.id),
        tickets=await house.executions.tickets(execution.id),
        entries=await house.ledger.of_execution(execution.id),
    )
    return account.shown(known)


@router.get(
    "/executions/{execution_id}/events",
    summary="An execution's events as they happen (server-sent events)",
    response_class=StreamingResponse,
    responses=EVENTS,
)
async def events(
    execution: TheirExecution,
    house: TheHouse,
    after: Annotated[int, Query(ge=0, description="Only the events numbered above this")] = 0,
    last_event_id: Annotated[str | None, Header(description="The same, as browsers say it; it wins")] = None,
) -> Response:
    if last_event_id is not None and last_event_id.isascii() and last_event_id.isdigit():
        after = int(last_event_id[:18])

    watched = sse.watch(house.executions, execution, after=after, poll_s=house.poll_s)
    if execution.status.terminal:
        told = "".join([frame async for frame in watched])
        # a browser that gets a 204 does not connect again
        return Response(told, media_type=sse.MEDIA_TYPE, headers=HEADERS) if told else Response(status_code=204)
    return StreamingResponse(watched, media_type=sse.MEDIA_TYPE, headers=HEADERS)

"""Executions over HTTP: start, read, watch and cancel them, and verify their receipts."""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query
from starlette.responses import Response, StreamingResponse

from ferryman.domain.executions.execution import ARGUMENTS_CHARACTERS_MAX, Execution, Status
from ferryman.domain.executions.request import find_conversation_problems, find_label_problems
from ferryman.domain.owners.idempotency import Completion
from ferryman.domain.problem import InvalidInputError, build_input_error
from ferryman.domain.records.record import Record
from ferryman.ports.executions import Filter
from ferryman.serving.api.access import (
    ASKS,
    READS,
    RUNS,
    CurrentCaller,
    CurrentOwner,
    Dependencies,
    OwnedExecution,
    OwnedTask,
)
from ferryman.serving.api.answer_stream import stream_execution
from ferryman.serving.api.cancelling import cancel
from ferryman.serving.api.errors import NotFoundError
from ferryman.serving.api.execution_start import check_start, start_stored
from ferryman.serving.api.idempotency import Idempotency, IdempotentRequest, IdempotentRoute
from ferryman.serving.api.paging import ByNumber, ByTime, Since, parse_moment
from ferryman.serving.api.shapes import call, receipt, turn
from ferryman.serving.api.shapes import execution as shapes
from ferryman.serving.api.shapes import record as account
from ferryman.serving.api.stream_request import StreamChoice

router = APIRouter(route_class=IdempotentRoute, prefix="/v1", tags=["executions"])

InStatus = Annotated[Status | None, Query(description="Only those in this status")]
Traceparent = Annotated[str | None, Header(description="A trace to go on with, as W3C's Trace Context writes it")]
IsWaiting = Annotated[bool, Query(description="Only those that wait for a person")]
SEQ_MAX = 999_999
"""More calls, turns and receipts than any execution can have."""
Details = Annotated[bool, Query(description="False: without what is large. It is not read then, and so costs no time")]
FromCall = Annotated[
    int, Query(alias="from", ge=0, le=SEQ_MAX, description="Only calls from this `seq` on; a cursor goes before")
]
FromTurn = Annotated[
    int, Query(alias="from", ge=1, le=SEQ_MAX, description="Only turns from this number on; a cursor goes before")
]
FromReceipt = Annotated[
    int, Query(alias="from", ge=0, le=SEQ_MAX, description="Only receipts from this number on; a cursor goes before")
]

EVENT = {
    "title": "StreamedEvent",
    "description": "Each event of the stream, as the format has it. Its data is a JSON object, by its kind.",
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "What the stream goes on after: of an event, its number, from 1 without gaps"},
        "event": {"type": "string", "description": "Its kind: started, turn, tool_call, tool_result, finished and more"},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["id", "event", "data"],
}
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The events as they happen, until the execution has finished",
        "content": {"text/event-stream": {"schema": EVENT}},
    },
    204: {"description": "The execution has finished, and there is nothing after the last event that was seen"},
}


@router.post("/tasks/{task_id}/executions", dependencies=[RUNS], status_code=202, summary="Start an execution")
async def start_execution(
    task: OwnedTask,
    deps: Dependencies,
    caller: CurrentCaller,
    once: Idempotency,
    response: Response,
    body: shapes.StartRequest | None = None,
    traceparent: Traceparent = None,
) -> shapes.ExecutionResponse:
    request = body or shapes.StartRequest()
    if problems := [*find_conversation_problems(request.conversation), *find_label_problems(request.labels)]:
        raise InvalidInputError(problems)
    plan = await check_start(deps, caller)
    execution = await start_stored(
        deps,
        caller,
        task,
        plan,
        complete=partial(_complete, once),
        traceparent=traceparent or "",
        conversation=request.conversation or "",
        input=request.input,
        labels=request.labels,
    )
    response.headers["Location"] = _locate(execution)
    return shapes.to_response(execution)


@router.post("/tasks/{task_id}/calls", dependencies=[RUNS], status_code=202, summary="Make one call of a tool, without a model")
async def start_call(
    task: OwnedTask,
    deps: Dependencies,
    caller: CurrentCaller,
    once: Idempotency,
    response: Response,
    body: shapes.DirectCallRequest,
    traceparent: Traceparent = None,
) -> shapes.ExecutionResponse:
    arguments = json.dumps(body.arguments, separators=(",", ":"))
    if len(arguments) > ARGUMENTS_CHARACTERS_MAX:
        raise build_input_error("arguments", f"must have at most {ARGUMENTS_CHARACTERS_MAX:,} characters as JSON")
    plan = await check_start(deps, caller)
    execution = await start_stored(
        deps,
        caller,
        task,
        plan,
        complete=partial(_complete, once),
        traceparent=traceparent or "",
        input=arguments,
        called_tool=body.tool,
    )
    response.headers["Location"] = _locate(execution)
    return shapes.to_response(execution)


async def _complete(once: IdempotentRequest, execution: Execution) -> Completion | None:
    """Return what is stored with the execution, so that a repeated request is answered with it."""
    return await once.complete(202, shapes.to_response(execution), location=_locate(execution))


def _locate(execution: Execution) -> str:
    return f"/v1/executions/{execution.id}"


@router.get("/tasks/{task_id}/executions", dependencies=[READS], summary="A task's executions, newest first")
async def list_task_executions(
    task: OwnedTask,
    deps: Dependencies,
    paging: ByTime,
    status: InStatus = None,
    since: Since = None,
    waiting: IsWaiting = False,
) -> shapes.ExecutionList:
    which = Filter(task=task.id, status=status, since=parse_moment(since), is_waiting=waiting)
    page = await deps.executions.list(task.workspace, which=which, after=paging.after, most=paging.limit)
    return shapes.to_list(page, paging.write_next(page.end))


@router.get("/executions", dependencies=[READS], summary="Your executions, newest first")
async def list_executions(
    deps: Dependencies,
    caller: CurrentCaller,
    paging: ByTime,
    task: Annotated[str | None, Query(max_length=64, description="Only those of this task")] = None,
    agent: Annotated[str | None, Query(max_length=64, description="Only those of this agent")] = None,
    status: InStatus = None,
    since: Since = None,
    waiting: IsWaiting = False,
) -> shapes.ExecutionList:
    which = Filter(task=task, agent=agent, status=status, since=parse_moment(since), is_waiting=waiting)
    page = await deps.executions.list(caller.workspace, which=which, after=paging.after, most=paging.limit)
    return shapes.to_list(page, paging.write_next(page.end))


@router.get("/executions/{execution_id}", dependencies=[READS], summary="One execution's record")
async def get_execution(execution: OwnedExecution) -> shapes.ExecutionResponse:
    return shapes.to_response(execution)


@router.post(
    "/executions/{execution_id}/cancel", dependencies=[RUNS], summary="Cancel: nothing more is sent, what is under way ends"
)
async def cancel_execution(execution: OwnedExecution, deps: Dependencies, caller: CurrentCaller) -> shapes.ExecutionResponse:
    cancelled = await cancel(deps, caller, execution.id)
    if cancelled is None:
        raise NotFoundError("execution")
    return shapes.to_response(cancelled)


@router.get(
    "/executions/{execution_id}/calls", dependencies=[READS], summary="An execution's calls, with their results in full"
)
async def list_calls(
    execution: OwnedExecution, deps: Dependencies, paging: ByNumber, first: FromCall = 0, details: Details = True
) -> call.CallList:
    read = deps.executions.tickets if details else deps.executions.brief_tickets
    tickets = await read(execution.id, first=first if paging.after is None else paging.after, most=paging.limit + 1)
    here, rest = tickets[: paging.limit], tickets[paging.limit :]
    end = rest[0].seq if rest else None
    return call.CallList(calls=tuple(map(call.to_listed, here)), next=paging.write_next(end))


@router.get("/executions/{execution_id}/calls/{seq}", dependencies=[READS], summary="One call of an execution, in full")
async def get_call(
    execution: OwnedExecution, deps: Dependencies, seq: Annotated[int, Path(ge=0, le=SEQ_MAX, description="From 0")]
) -> call.ListedCall:
    tickets = await deps.executions.tickets(execution.id, first=seq, most=1)
    if not tickets or tickets[0].seq != seq:
        raise NotFoundError("call")
    return call.to_listed(tickets[0])


@router.get("/executions/{execution_id}/turns", dependencies=[READS], summary="An execution's turns, with what the model wrote")
async def list_turns(
    execution: OwnedExecution, deps: Dependencies, paging: ByNumber, first: FromTurn = 1, details: Details = True
) -> turn.TurnList:
    read = deps.executions.steps if details else deps.executions.brief_steps
    after = (first if paging.after is None else paging.after) - 1
    steps = await read(execution.id, after=after, most=paging.limit + 1)
    here, rest = steps[: paging.limit], steps[paging.limit :]
    following = paging.write_next(rest[0].number if rest else None)
    return turn.TurnList(turns=tuple(turn.to_response(execution, step) for step in here), next=following)


@router.get(
    "/executions/{execution_id}/record",
    dependencies=[READS],
    summary="The full account of an execution, as one document",
    response_model_exclude_unset=True,  # what receipts cover has no member more
)
async def get_record(execution: OwnedExecution, deps: Dependencies) -> account.RecordResponse:
    # the execution was read before its parts: one that had ended has all of them
    is_imported = execution.imported_from is not None
    known = Record(
        execution=execution.restore(),
        opening=await deps.executions.opening(execution.id),
        steps=await deps.executions.steps(execution.id),
        tickets=await deps.executions.tickets(execution.id),
        entries=await (deps.archives.list_entries if is_imported else deps.ledger.of_execution)(execution.id),
    )
    return account.to_response(known)


@router.get(
    "/executions/{execution_id}/receipts",
    dependencies=[READS],
    summary="An execution's receipts, chained and signed",
    response_model_exclude_unset=True,  # an entry's hash is that of the members that it was signed with
)
async def list_receipts(
    execution: OwnedExecution, deps: Dependencies, paging: ByNumber, first: FromReceipt = 0
) -> receipt.ReceiptChain:
    after = first if paging.after is None else paging.after
    receipts = await deps.executions.receipts(execution.id, first=after, most=paging.limit + 1)
    here, rest = receipts[: paging.limit], receipts[paging.limit :]
    following = paging.write_next(rest[0].number if rest else None)
    if execution.imported_from is None:
        return receipt.to_chain(execution.id, here, receipt.to_public_keys(deps.receipt_keys), following)
    # they were signed where it ran, about the id that it had there
    return receipt.to_chain(execution.restore().id, here, execution.imported_from.keys, following)


@router.get("/receipt-keys", dependencies=[ASKS], summary="The public keys that receipts are verified with")
async def list_receipt_keys(deps: Dependencies, _: CurrentOwner) -> receipt.ReceiptKeysResponse:
    return receipt.ReceiptKeysResponse(keys=receipt.to_public_keys(deps.receipt_keys))


@router.get(
    "/executions/{execution_id}/events",
    dependencies=[READS],
    summary="An execution's events as they happen (server-sent events)",
    response_class=StreamingResponse,
    responses=EVENTS,
)
async def watch_events(
    execution: OwnedExecution,
    deps: Dependencies,
    caller: CurrentCaller,
    request: StreamChoice,
) -> Response:
    return await stream_execution(deps, caller, execution, request)

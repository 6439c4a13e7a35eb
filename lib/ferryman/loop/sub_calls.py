"""Calls become tickets: those of a turn, and those that a call asks for before it is answered (sub-calls).

A sub-call passes what every call does: it is journaled and signed before it is sent, its arguments are scanned before they rest
anywhere, the execution's own policy says what it may do, and it counts for every limit.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from ferryman.catalog.tools import EXTRACTING, find_tool, holds_secrets
from ferryman.domain.calls.call import Ticket, ToolCall
from ferryman.domain.calls.sub_calls import SubCalls
from ferryman.domain.copies import replace
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.message import Block, extract_calls
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.flow.passing import attach_labels, list_labels
from ferryman.domain.flow.values import drop_labels
from ferryman.domain.labels.label import FlowLabel, join
from ferryman.domain.records.event import NUMBERS_PER_CALL
from ferryman.loop import flow, money, receipts, urls
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.journal import Run

CALLS_MAX = 100
"""The calls of one turn, with their sub-calls: a reply with more ends the execution, a call that asks for more is refused."""


def has_room(run: Run, requested: SubCalls) -> bool:
    """Tell whether the turn may have these calls, too."""
    return len(run.results) + len(run.pending) + len(requested.calls) <= CALLS_MAX


async def journal_sub_calls(deps: LoopDependencies, run: Run, parent: Ticket, requested: SubCalls) -> None:
    """Store the calls that `parent`, the first pending call, asks for: they are executed before it is again.

    Raise `StaleError`, `UnavailableError` or `RejectedError`; then the run is as it was.
    """
    signer = await deps.signing.key()
    blocks = [{"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)} for call in requested.calls]
    redacted = extract_calls(await scan_content(deps, run.execution, blocks))
    assert len(redacted) == len(requested.calls), "a scan leaves every call in its place"
    labelled = [
        replace(clean, arguments=attach_labels(call.arguments, clean.arguments))
        for call, clean in zip(requested.labelled or redacted, redacted, strict=True)
    ]
    now = deps.clock.now()
    tickets = await build_tickets(
        deps,
        run,
        requested.calls,
        redacted,
        step=parent.step,
        first=run.next_call,
        label=run.label_arguments(parent),
        now=now,
        parent=parent.seq,
        labelled=labelled,
        hidden=requested.hidden or parent.hidden,
    )
    planned = replace(
        run.execution,
        events=run.execution.events + NUMBERS_PER_CALL * len(tickets),
        credits_held=money.hold_sub_calls(run, tickets),
    )
    planned, signed = receipts.sign_sub_calls(signer, planned, tickets, now)
    run.execution = await deps.executions.journal_sub_calls(planned, tickets, receipts=signed, now=now)
    run.add_sub_calls(tickets)
    deps.log("call.asks", execution=run.execution.id, seq=parent.seq, calls=len(tickets))


async def scan_content(deps: LoopDependencies, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:
    """Return blocks as they may be stored: with every credential of the task redacted."""
    if execution.policy is not None and not holds_secrets(execution.policy):
        return content  # there is no secret that it could contain
    return await deps.scanner.scan(execution, content)


async def build_tickets(
    deps: LoopDependencies,
    run: Run,
    calls: Sequence[ToolCall],
    redacted: Sequence[ToolCall],
    *,
    step: int,
    first: int,
    label: FlowLabel,
    now: datetime,
    parent: int | None = None,
    labelled: Sequence[ToolCall] | None = None,
    hidden: bool = False,
) -> tuple[Ticket, ...]:
    """Return the tickets of `calls`, numbered from `first`, with sealed arguments; `redacted` are the same calls, scanned.

    A call of a routed tool becomes one of the tool that executes it. `label` is that of all that the model has read; `labelled`
    are the scanned calls with the labels of the values that they were handed. `hidden` are the results of all of them, and that
    of any call whose tool hides what it says.
    """
    execution = run.execution
    scanned = [(*pair, dict(pair[0].arguments) != dict(pair[1].arguments)) for pair in zip(calls, redacted, strict=False)]
    routed = [(*_route_call(deps, execution, call, clean), is_redacted) for call, clean, is_redacted in scanned]
    readable = [clean for _, clean, _ in routed]
    judged = readable if labelled is None else [_route_labelled(deps, execution, call) for call in labelled]
    origins = urls.judge_calls(run.seen, readable)
    flows = await flow.judge_calls(deps, execution, run.flow, judged, label)
    return tuple(
        Ticket(
            seq=seq,
            step=step,
            call=redacted_call.id,
            tool=redacted_call.name,
            called_as=call.called_as,
            arguments=deps.seal(execution.id, seq, json.dumps(dict(call.arguments)).encode()),
            display_arguments=redacted_call.arguments,
            epoch=execution.epoch,
            created_at=now,
            parent=parent,
            label=join((label, *list_labels(judged_call.arguments))),
            redacted=is_redacted,
            url_origin=origin,
            flow=call_flow,
            hidden=hidden or find_tool(call.name).kind == EXTRACTING,
        )
        for seq, ((call, redacted_call, is_redacted), judged_call, origin, call_flow) in enumerate(
            zip(routed, judged, origins, flows, strict=True), first
        )
    )


def _route_call(deps: LoopDependencies, execution: Execution, call: ToolCall, redacted: ToolCall) -> tuple[ToolCall, ToolCall]:
    """Return both forms of a call as those of the tool that executes it, chosen by what the record has.

    The arguments that the agent's settings fix are put in before a route is chosen by them, and those of the route's tool after
    it: neither can be told otherwise by the model.
    """
    policy = execution.policy
    assert policy is not None, "an opened execution has a policy"
    call, redacted = fix_arguments(policy, call), fix_arguments(policy, redacted)
    route = deps.registry.find_route(redacted.name, redacted.arguments, policy.enabled)
    if route is None:
        return call, redacted
    return fix_arguments(policy, route.apply(call)), fix_arguments(policy, route.apply(redacted))


def _route_labelled(deps: LoopDependencies, execution: Execution, labelled: ToolCall) -> ToolCall:
    """Return a call with its labels as one of the tool that executes it: labels choose no route."""
    plain = replace(labelled, arguments=drop_labels(labelled.arguments))
    policy = execution.policy
    assert policy is not None, "an opened execution has a policy"
    labelled, plain = fix_arguments(policy, labelled), fix_arguments(policy, plain)
    route = deps.registry.find_route(plain.name, plain.arguments, policy.enabled)
    return labelled if route is None else fix_arguments(policy, route.apply(labelled))


def fix_arguments(policy: ExecutionPolicy, call: ToolCall) -> ToolCall:
    """Return `call` with the arguments that the agent's settings of its tool fix: the same call where they fix none."""
    settings = policy.settings_of(call.name)
    return replace(call, arguments=settings.fix_arguments(call.arguments)) if settings.arguments else call

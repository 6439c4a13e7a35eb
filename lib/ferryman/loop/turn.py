"""One turn: ask the model, redact its output, and commit the turn with its tickets before any call is sent (write-ahead)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from ferryman.domain.copies import replace
from ferryman.domain.credits import ledger
from ferryman.domain.executions.execution import Execution, ModelTrouble, Step
from ferryman.domain.executions.message import Block, Prompt, Reply, extract_calls, join_text
from ferryman.domain.records.event import count_numbers
from ferryman.domain.stale import StaleError
from ferryman.loop import direct, money, receipts, spans
from ferryman.loop.calls import ExecutionCancelledError, is_out_of_calls
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.journal import Run
from ferryman.loop.live import LiveWriter, write_live
from ferryman.loop.sub_calls import CALLS_MAX, build_tickets, scan_content
from ferryman.ports.errors import CancelRequestedError, HaltedError, RejectedError, UnavailableError, UnreachedError
from ferryman.ports.executions import TurnCommit
from ferryman.ports.keys import Signer
from ferryman.ports.live import Audience
from ferryman.ports.log import Span

MODEL_ATTEMPTS_MAX = 5
"""How often the model is asked for the same turn, when each reply is lost."""

UNREACHED_MAX = 30
"""How often the provider of the model is not reached for one turn before the execution ends: minutes, which cost nothing."""

TOO_MANY_CALLS = f"the model asked for more than {CALLS_MAX} calls in one turn"
UNSUMMARIZED = "the conversation is too long to be read, and the model wrote no summary of it: begin another"
LOST = f"the model was asked {MODEL_ATTEMPTS_MAX} times, and every answer was lost"
UNHEARD = "the instance ended while it waited"


async def take(deps: LoopDependencies, run: Run, audience: Audience | None = None) -> None:
    """Ask the model, and commit its turn, which `audience` is shown as it is written.

    Raise `CreditsExhaustedError`, `ExecutionCancelledError`, `UnavailableError`, `RejectedError` or `StaleError`; then
    nothing is committed.
    """
    if run.execution.called_tool:
        await _write_call(deps, run, audience)
        return
    closing = bool(run.summarizes) or run.execution.iterations >= run.opening.max_iterations or is_out_of_calls(run)
    signer = await deps.signing.key()  # first: a turn that was paid for and cannot be signed would be lost
    prompt, worst_case = _build_prompt(deps, run, closing=closing)
    with spans.open_chat_span(deps, run.execution, prompt) as span:
        async with write_live(deps, run.execution, audience, is_shown=not run.summarizes) as writer:
            reply = await _ask(deps, run, prompt, worst_case, writer)
        spans.record_reply(span, reply)
        before = run.execution
        try:
            content = await _scan(deps, run, reply, writer)
            await _commit(deps, run, reply, content, signer, closing=closing, span=span)
        except UnavailableError:
            run.execution = before  # the turn may not be stored: its model call stays recorded as sent
            raise
        if audience is not None:
            audience.note_commit(run.execution.events)


async def _write_call(deps: LoopDependencies, run: Run, audience: Audience | None) -> None:
    """Commit the turn of a direct call, as `take` does one of the model."""
    signer = await deps.signing.key()
    reply = direct.write_reply(run.execution)
    now = deps.clock.now()
    try:
        if _is_fresh(deps, run.execution, now):
            current = await deps.executions.check(run.execution, now=now)
        else:
            current = await deps.executions.renew(run.execution, now=now, lease=deps.lease)
    except HaltedError as halted:
        raise ExecutionCancelledError.from_halt(halted) from None
    if current.cancel_requested:
        raise ExecutionCancelledError("cancelled")
    run.execution = before = current
    content = await _scan(deps, run, reply, None)
    run.execution = direct.keep_scanned(run.execution, content)
    try:
        await _commit(deps, run, reply, content, signer, closing=False)
    except UnavailableError:
        run.execution = before
        raise
    if audience is not None:
        audience.note_commit(run.execution.events)


async def _scan(deps: LoopDependencies, run: Run, reply: Reply, writer: LiveWriter | None) -> Sequence[Block]:
    """Return the content of a turn as it may be stored, and have what was shown of it replaced where it is not."""
    content = await scan_content(deps, run.execution, reply.content)
    if dropped := len(reply.content) - len(content):
        deps.log("turn.withheld", execution=run.execution.id, blocks=dropped, severity="WARNING")
    if writer is not None:
        await writer.conclude(content, is_clean=list(content) == list(reply.content))
    return content


async def _commit(
    deps: LoopDependencies,
    run: Run,
    reply: Reply,
    content: Sequence[Block],
    signer: Signer,
    *,
    closing: bool,
    span: Span | None = None,
) -> None:
    run.execution, paid = money.charge_reply(deps, run, reply)
    if span is not None:
        spans.record_output(span, content)
    # a reply that stopped for any other reason may be cut, and its calls with it
    calls = reply.calls if reply.stop_reason == "tool_use" and not closing else ()
    if len(calls) > CALLS_MAX:
        raise RejectedError(TOO_MANY_CALLS)
    number = (run.last.number if run.last else 0) + 1
    now = deps.clock.now()
    step = Step(
        number=number,
        content=tuple(content),
        stop_reason=reply.stop_reason,
        usage=reply.usage,
        credits=paid,
        first_call=run.next_call,
        calls=len(calls),
        event=run.execution.events + 1,
        at=now,
        slice=run.execution.slice,
        prompt_digest=run.history.digest(),
        summarizes=run.summarizes,
    )
    if step.summarizes and not join_text(content).strip():
        raise RejectedError(UNSUMMARIZED)
    tickets = await build_tickets(
        deps,
        run,
        calls,
        extract_calls(content),
        step=number,
        first=step.first_call,
        label=run.label,
        now=now,
    )
    counted = replace(
        run.execution,
        iterations=min(number, run.opening.max_iterations),
        events=run.execution.events + count_numbers(step),
    )
    counted = money.reserve_next_call(run, counted, step)
    entry = ledger.record_turn(counted, number, tokens=paid, calls=run.list_expenses(), at=now)
    counted, signed = receipts.sign_turn(signer, run, counted, step, tickets, entry, now)
    event = run.meter(counted).build_turn(step, llm_tokens=paid)
    turn = TurnCommit(step=step, tickets=tickets, entry=entry, receipts=signed, usage_event=event)
    committed = await deps.executions.commit(counted, turn, now=now, lease=deps.lease)
    run.apply_commit(committed, credits_held=money.compute_fees(run, tickets))
    run.add_turn(step, tickets)
    deps.log("turn", execution=run.execution.id, step=number, calls=len(tickets), stop_reason=reply.stop_reason)


async def _ask(deps: LoopDependencies, run: Run, prompt: Prompt, worst_case: Decimal, writer: LiveWriter | None) -> Reply:
    """Hold the worst case in credits, and return the model's reply; a call that the provider declined costs nothing.

    A reply that a person stops in a chat is returned as far as it came.
    """
    if run.execution.pending_model_calls >= MODEL_ATTEMPTS_MAX:
        raise RejectedError(f"{LOST}: {run.execution.model_trouble.cause or UNHEARD}")
    before = run.execution
    try:
        reserved, now = money.reserve_model_call(run, worst_case), deps.clock.now()
        if run.is_reserved and _is_fresh(deps, reserved, now):
            current = await deps.executions.check(reserved, now=now)
        else:
            current = await deps.executions.ask(reserved, now=now, lease=deps.lease)
    except HaltedError as halted:
        raise ExecutionCancelledError.from_halt(halted) from None
    if current.cancel_requested:
        raise ExecutionCancelledError("cancelled")
    if current.lease is None or deps.clock.now() >= current.lease.expires_at:
        raise StaleError("the lease expired while this instance was suspended: the turn is another delivery's")
    run.execution, run.is_reserved = current, False
    try:
        asking = deps.model.reply(prompt) if writer is None else deps.model.reply(prompt, watcher=writer)
        cancellable = current.id if current.answer else ""
        return await deps.halt_watch.run(asking, current.owner, created=current.created_at, cancellable=cancellable)
    except HaltedError as halted:
        if not halted.lost:
            run.execution = money.undo_model_call(run.execution, before)
        elif isinstance(halted, CancelRequestedError) and writer is not None:
            return writer.stop(prompt, prompt_tokens=run.history.measure() // money.BYTES_PER_TOKEN)
        raise ExecutionCancelledError.from_halt(halted) from None
    except (UnavailableError, RejectedError) as declined:
        if not declined.lost:
            run.execution = money.undo_model_call(run.execution, before)
        if isinstance(declined, UnavailableError):
            _note_trouble(run, declined)
        raise


def _is_fresh(deps: LoopDependencies, execution: Execution, now: datetime) -> bool:
    """Say whether half of the lease is left: a model call under an older one renews it first."""
    return execution.lease is not None and execution.lease.expires_at - now >= deps.lease / 2


def _note_trouble(run: Run, error: UnavailableError) -> None:
    """Note on the execution why the model did not answer. Raise `RejectedError` where it was not reached too often."""
    known = run.execution.model_trouble
    unreached = known.unreached + (error.attempts if isinstance(error, UnreachedError) else 0)
    trouble = ModelTrouble(attempts=known.attempts + error.attempts, unreached=unreached, cause=str(error))
    run.execution = replace(run.execution, model_trouble=trouble)
    if isinstance(error, UnreachedError) and unreached >= UNREACHED_MAX:
        raise RejectedError(f"{error}; {unreached} attempts cost nothing") from None


def _build_prompt(deps: LoopDependencies, run: Run, *, closing: bool) -> tuple[Prompt, Decimal]:
    """Return the prompt, and the worst case of its cost in credits. Raise `CreditsExhaustedError` or `RejectedError`."""
    opening = run.opening
    price = deps.price(opening.model)
    if price is None:
        raise RejectedError(f"model {opening.model} has no price")
    tokens, worst_case = money.limit_output(run, price)
    prompt = Prompt(
        model=opening.model,
        system=opening.system,
        messages=run.history.messages,
        encoded_messages=run.history.encoded,
        tools=run.history.tools,
        max_tokens=tokens,
        temperature=opening.temperature,
        closing=closing,
    )
    return prompt, worst_case

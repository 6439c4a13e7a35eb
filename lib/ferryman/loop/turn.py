"""One turn: the model is asked, what it said is looked through, and the turn is committed with its tickets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from ferryman.domain import ledger
from ferryman.domain.call import Ticket
from ferryman.domain.event import numbers_of
from ferryman.domain.execution import Execution, Step
from ferryman.domain.message import Block, Prompt, Reply, calls_of, canonical, digest
from ferryman.halting import unless_halted
from ferryman.loop import money, receipts, spans
from ferryman.loop.calls import Cancelled
from ferryman.loop.house import House
from ferryman.loop.journal import Run
from ferryman.ports import Halted, Rejected, Signer, Span, Stale, Turn, Unavailable

CALLS_MAX = 100
"""More calls in one reply are not a turn but a flood."""

OUTPUT_TOKENS_MIN = 64
"""A model call that could not answer in this many tokens is not made."""

ASKED_MAX = 5
"""How often the model is asked for the same turn when the answer is lost each time."""

FLOODED = f"the model asked for more than {CALLS_MAX} calls in one turn"
LOST = f"the model was asked {ASKED_MAX} times, and every answer was lost"


class Exhausted(Exception):  # noqa: N818 - reads as the fact it states
    """The execution's credits do not pay for another model call."""


async def take(house: House, run: Run) -> None:
    """Ask the model, and commit its turn.

    Raises `Exhausted`, `Cancelled`, `Unavailable`, `Rejected` or `Stale`, and then nothing is committed.
    """
    closing = run.execution.iterations >= run.opening.max_iterations
    signer = await house.signing.key()  # first: a turn that was paid for and cannot be signed would be lost
    prompt, worst = _prompt(house, run, closing=closing)
    with spans.chat(house, run.execution, prompt) as span:
        reply = await _asked(house, run, prompt, worst)
        spans.replied(span, reply)
        asked = run.execution
        try:
            await _committed(house, run, prompt, reply, signer, span)
        except Unavailable:
            run.execution = asked  # it was sent, and its turn may not be there: it stays asked for
            raise


async def _committed(house: House, run: Run, prompt: Prompt, reply: Reply, signer: Signer, span: Span) -> None:
    closing = prompt.closing
    run.execution, paid = money.answered(house, run, reply)
    shown = await _looked_through(house, run, reply)
    spans.said(span, shown)
    # a reply that stopped for any other reason may be cut, and its calls with it
    calls = reply.calls if reply.stop_reason == "tool_use" and not closing else ()
    if len(calls) > CALLS_MAX:
        raise Rejected(FLOODED)
    number = (run.last.number if run.last else 0) + 1
    now = house.clock.now()
    step = Step(
        number=number,
        content=tuple(shown),
        stop_reason=reply.stop_reason,
        usage=reply.usage,
        credits=paid,
        first_call=run.next_call,
        calls=len(calls),
        event=run.execution.events + 1,
        at=now,
        slice=run.execution.slice,
        prompt_digest=digest(canonical(prompt.system, prompt.tools, prompt.messages)),
    )
    tickets = [
        Ticket(
            seq=step.first_call + offset,
            step=number,
            call=seen.id,
            tool=seen.name,
            arguments=house.seal(run.execution.id, step.first_call + offset, json.dumps(dict(call.arguments)).encode()),
            shown=seen.arguments,
            epoch=run.execution.epoch,
            created_at=now,
        )
        for offset, (call, seen) in enumerate(zip(calls, calls_of(shown), strict=False))
    ]
    counted = replace(
        run.execution,
        iterations=min(number, run.opening.max_iterations),
        credits_held=money.fees_of(run, tickets),
        events=run.execution.events + numbers_of(step),
    )
    entry = ledger.spent(counted, number, tokens=paid, fees=run.fees, at=now)
    counted, signed = receipts.turned(signer, run, counted, tickets, now)
    turn = Turn(step=step, tickets=tuple(tickets), entry=entry, receipts=signed)
    run.kept(await house.executions.commit(counted, turn, now=now, lease=house.lease))
    run.said(step, tickets)
    house.line("turn", execution=run.execution.id, step=number, calls=len(tickets), stop_reason=reply.stop_reason)


async def _asked(house: House, run: Run, prompt: Prompt, worst: Decimal) -> Reply:
    """The model's reply, with the worst it may cost set aside before; a call that was declined costs nothing."""
    if run.execution.asked >= ASKED_MAX:
        raise Rejected(LOST)
    before = run.execution
    try:
        standing = await house.executions.ask(money.asked(run, worst), now=house.clock.now(), lease=house.lease)
    except Halted as halted:
        raise Cancelled.by(halted) from None
    if standing.cancel_requested:
        raise Cancelled("cancelled")
    if standing.lease is None or house.clock.now() >= standing.lease.expires_at:
        raise Stale("this instance stood still for so long that the turn is another's to ask for")
    run.execution = standing
    try:
        return await unless_halted(house.model.reply(prompt), lambda: _stopped(house, run.execution), every=house.looks)
    except Halted as halted:
        raise Cancelled.by(halted) from None
    except (Unavailable, Rejected) as declined:
        if not declined.lost:
            run.execution = money.unasked(run.execution, before)
        raise


async def _stopped(house: House, execution: Execution) -> str | None:
    return await house.halts.standing(execution.owner, created=execution.created_at)


def _prompt(house: House, run: Run, *, closing: bool) -> tuple[Prompt, Decimal]:
    opening = run.opening
    price = house.price(opening.model)
    if price is None:
        raise Exhausted
    size = len(canonical(opening.system, opening.tools, run.messages))
    left = opening.max_credits - run.execution.credits_used
    tokens = min(opening.max_tokens, price.affordable(left, prompt_bytes=size))
    if tokens < min(OUTPUT_TOKENS_MIN, opening.max_tokens):
        raise Exhausted
    prompt = Prompt(
        model=opening.model,
        system=opening.system,
        messages=tuple(run.messages),
        tools=opening.tools,
        max_tokens=tokens,
        temperature=opening.temperature,
        closing=closing,
    )
    return prompt, min(left, price.worst(prompt_bytes=size, output_tokens=tokens))


async def _looked_through(house: House, run: Run, reply: Reply) -> Sequence[Block]:
    remit = run.execution.remit
    if remit is not None and not remit.credentials:
        return reply.content  # there is nothing it could hold
    return await house.scanner.scan(run.execution, reply.content)

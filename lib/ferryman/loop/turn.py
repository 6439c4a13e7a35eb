"""One turn: the model is asked, what it said is looked through, and the turn is committed with its tickets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from ferryman.domain.call import Ticket
from ferryman.domain.event import numbers_of
from ferryman.domain.execution import Step
from ferryman.domain.message import Block, Prompt, Reply, calls_of
from ferryman.loop.house import House
from ferryman.loop.journal import Run
from ferryman.loop.opening import epoch_of
from ferryman.ports import Rejected, Turn

CALLS_MAX = 100
"""More calls in one reply are not a turn but a flood."""

OUTPUT_TOKENS_MIN = 64
"""A model call that could not answer in this many tokens is not made."""


class Exhausted(Exception):  # noqa: N818 - reads as the fact it states
    """The execution's credits do not pay for another model call."""


async def take(house: House, run: Run) -> None:
    """Ask the model, and commit its turn. Raises `Exhausted`, `Unavailable`, `Rejected` or `Stale`, and then nothing is."""
    closing = run.execution.iterations >= run.opening.max_iterations
    reply = await house.model.reply(_prompt(house, run, closing=closing))
    shown = await _looked_through(house, run, reply)
    calls = () if closing or reply.stop_reason == "max_tokens" else reply.calls
    if len(calls) > CALLS_MAX:
        raise Rejected(f"the model asked for more than {CALLS_MAX} calls in one turn")
    number = (run.last.number if run.last else 0) + 1
    now = house.clock.now()
    step = Step(
        number=number,
        content=tuple(shown),
        stop_reason=reply.stop_reason,
        usage=reply.usage,
        credits=_cost(house, run, reply),
        first_call=run.next_call,
        calls=len(calls),
        event=run.execution.events + 1,
        at=now,
    )
    tickets = [
        Ticket(
            seq=step.first_call + offset,
            step=number,
            call=seen.id,
            tool=seen.name,
            arguments=house.seal(run.execution.id, step.first_call + offset, json.dumps(dict(call.arguments)).encode()),
            shown=seen.arguments,
            epoch=epoch_of(run.execution),
            created_at=now,
        )
        for offset, (call, seen) in enumerate(zip(calls, calls_of(shown), strict=False))
    ]
    counted = replace(
        run.execution,
        iterations=min(number, run.opening.max_iterations),
        credits_used=run.execution.credits_used + step.credits,
        usage=run.execution.usage + reply.usage,
        events=run.execution.events + numbers_of(step),
    )
    turn = Turn(step=step, tickets=tuple(tickets))
    run.execution = await house.executions.commit(counted, turn, now=now, lease=house.lease)
    run.said(step, tickets)
    house.line("turn", execution=run.execution.id, step=number, calls=len(tickets), stop_reason=reply.stop_reason)


def _prompt(house: House, run: Run, *, closing: bool) -> Prompt:
    opening = run.opening
    price = house.price(opening.model)
    if price is None:
        raise Exhausted
    size = len(json.dumps([opening.system, list(opening.tools), run.messages]).encode())
    left = opening.max_credits - run.execution.credits_used
    tokens = min(opening.max_tokens, price.affordable(left, prompt_bytes=size))
    if tokens < min(OUTPUT_TOKENS_MIN, opening.max_tokens):
        raise Exhausted
    return Prompt(
        model=opening.model,
        system=opening.system,
        messages=tuple(run.messages),
        tools=opening.tools,
        max_tokens=tokens,
        temperature=opening.temperature,
        closing=closing,
    )


async def _looked_through(house: House, run: Run, reply: Reply) -> Sequence[Block]:
    remit = run.execution.remit
    if remit is not None and not remit.credentials:
        return reply.content  # there is nothing it could hold
    return await house.scanner.scan(run.execution.id, epoch=epoch_of(run.execution), content=reply.content)


def _cost(house: House, run: Run, reply: Reply) -> Decimal:
    """What the turn costs, and never more than is left: an estimate that was too low is the operator's, not the owner's."""
    price = house.price(run.opening.model)
    cost = price.credits(reply.usage) if price else Decimal(0)
    left = run.opening.max_credits - run.execution.credits_used
    if cost > left:
        house.line("credits.capped", execution=run.execution.id, cost=str(cost), charged=str(left), severity="WARNING")
    return min(cost, left)

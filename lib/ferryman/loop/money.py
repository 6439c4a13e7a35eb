"""Credit accounting of a run: reserve the worst case before a model call, charge its cost after it, release the rest."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import ROUND_CEILING, Decimal

from ferryman.catalog.tools import find_tool
from ferryman.domain.calls.call import Ticket
from ferryman.domain.conversations.compaction import LONG_CHARACTERS
from ferryman.domain.copies import replace
from ferryman.domain.credits import ledger
from ferryman.domain.credits.amount import format_credits
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.executions.execution import Execution, ExecutionSetup, ModelTrouble, Step
from ferryman.domain.executions.message import Reply
from ferryman.domain.expense import Expense
from ferryman.domain.metering.event import UsageEvent
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.journal import Run, resume_reserved
from ferryman.loop.metering import meter_unread
from ferryman.ports.price import TokenPrice

NOTHING = Decimal(0)
CENT = Decimal("0.01")

OUTPUT_TOKENS_MIN = 256
"""The fewest output tokens for which the model is asked, unless the task itself allows fewer."""

BYTES_PER_TOKEN = 2
"""How many bytes of a prompt's JSON a token has at least: prices count a prompt that nobody has measured so."""

EXHAUSTED = "the credit limit of this execution was reached"


class CreditsExhaustedError(Exception):
    """The execution's credits do not suffice for another model call; the text is the message for the owner.

    Of `limit` credits so many are `used`, and the next turn may need more than is left: `needed`.
    """

    def __init__(self, *, limit: Decimal, used: Decimal, needed: Decimal, tokens: int) -> None:
        super().__init__(
            f"{EXHAUSTED}: {format_credits(limit)} reserved, {format_credits(used)} used, and the next turn may "
            f"need {format_credits(needed)}, for its prompt and an answer of {tokens} tokens"
        )
        self.limit, self.used, self.needed = limit, used, needed

    def ask(self) -> str:
        """Return what the person in a chat is asked: the next message has credits of its own."""
        limit, used, needed = map(format_credits, (self.limit, self.used, self.needed))
        return (
            f"I have stopped: this answer has used {used} of the {limit} credits that an answer may use, and the next step may "
            f"need {needed}. Shall I go on? If you say so, I may use up to {limit} more."
        )


def limit_output(run: Run, price: TokenPrice) -> tuple[int, Decimal]:
    """Return how many tokens the next reply may have, at most the task's own limit, and the highest cost of that call.

    Where the highest cost of the whole limit does not fit into the credits that remain, the limit is lowered to what fits.
    Raise `CreditsExhaustedError` where that is too little for an answer.
    """
    opening, used = run.opening, run.execution.credits_used
    remaining = opening.max_credits - used
    size = run.history.measure()
    tokens = price.count_affordable_tokens(remaining, prompt_bytes=size)
    if tokens < opening.max_tokens:
        size = min(size, _measure_prompt(run, size))
        tokens = price.count_affordable_tokens(remaining, prompt_bytes=size)
    least = min(OUTPUT_TOKENS_MIN, opening.max_tokens)
    if tokens < least:
        needed = price.compute_worst_case(prompt_bytes=size, output_tokens=least).quantize(CENT, ROUND_CEILING)
        raise CreditsExhaustedError(limit=opening.max_credits, used=used, needed=needed, tokens=least)
    tokens = min(tokens, opening.max_tokens)
    return tokens, min(remaining, price.compute_worst_case(prompt_bytes=size, output_tokens=tokens))


def limit_history(price: TokenPrice, max_credits: Decimal) -> int:
    """Return the bytes of the history that an answer of at most so many credits may begin with: a third of them pays for it."""
    million = price.compute_worst_case(prompt_bytes=1_000_000, output_tokens=0)
    return LONG_CHARACTERS if not million else min(LONG_CHARACTERS, int(max_credits / 3 / million * 1_000_000))


def _measure_prompt(run: Run, size: int) -> int:
    """Return the bytes of a prompt that costs at least what the present one, of `size` bytes, does.

    The provider has counted the tokens of the prompt before; only what has come since is estimated by its bytes.
    """
    if run.last is None or run.last.summarizes:
        return size
    usage = run.last.usage
    counted = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    earlier = run.history.measure(without=2 if run.last.calls else 1)  # that turn's reply, and its results
    return counted * BYTES_PER_TOKEN + size - earlier


def reserve_model_call(run: Run, worst: Decimal) -> Execution:
    """Return the execution with the worst cost of a model call held, in addition to the fees that are not committed yet."""
    execution = run.execution
    return replace(
        execution,
        pending_model_calls=execution.pending_model_calls + 1,
        credits_held=execution.credits_used - run.committed + worst,
    )


def reserve_first_call(execution: Execution, opening: ExecutionSetup) -> Execution:
    """Return the execution as its opening stores it: with its first model call reserved, as a turn reserves the next one.

    A direct call asks no model.
    """
    if execution.called_tool:
        return execution
    return replace(execution, pending_model_calls=1, credits_held=opening.max_credits)


def reserve_next_call(run: Run, execution: Execution, step: Step) -> Execution:
    """Return the execution of a turn that asks for calls, or summarizes, with all credits that remain held.

    The calls and the model call after them are reserved in the turn's own commit; what that prompt costs only their results
    tell. Another turn is followed by none.
    """
    if execution.called_tool or (not step.calls and not step.summarizes):
        return execution
    return replace(execution, pending_model_calls=1, credits_held=run.opening.max_credits - execution.credits_used)


def resume_reservation(deps: LoopDependencies, run: Run) -> None:
    """Find out what of a model call that the record of a rebuilt `run` has reserved may be charged, and hold that alone."""
    resume_reserved(run, credits_held=compute_fees(run, run.pending))
    execution, price = run.execution, deps.price(run.opening.model)
    if not execution.pending_model_calls or price is None:
        return
    try:
        _, worst = limit_output(run, price)
    except CreditsExhaustedError:  # the former holder of the lease was told so too, and made no call
        run.execution = replace(execution, pending_model_calls=0, credits_held=NOTHING)
        return
    credits_held = min(execution.credits_held, execution.credits_used - run.committed + worst)
    run.execution = replace(execution, credits_held=credits_held)


def undo_model_call(execution: Execution, before: Execution) -> Execution:
    """Return the execution as it was before a model call that the provider declined; an earlier lost call stays charged."""
    return replace(execution, pending_model_calls=before.pending_model_calls, credits_held=before.credits_held)


def charge_reply(deps: LoopDependencies, run: Run, reply: Reply) -> tuple[Execution, Decimal]:
    """Return the execution with the reply charged, and its cost in credits: never more than the execution's limit leaves.

    An estimate that was too low is the operator's loss, not the owner's.
    """
    price = deps.price(run.opening.model)
    cost = price.compute_credits(reply.usage) if price else NOTHING
    remaining = run.opening.max_credits - run.execution.credits_used
    if cost > remaining:
        deps.log("credits.capped", execution=run.execution.id, cost=str(cost), charged=str(remaining), severity="WARNING")
    paid = min(cost, remaining)
    execution = replace(
        run.execution,
        credits_used=run.execution.credits_used + paid,
        usage=run.execution.usage + reply.usage,
        pending_model_calls=0,
        credits_held=NOTHING,
        model_trouble=ModelTrouble(),
    )
    return execution, paid


def compute_fees(run: Run, tickets: Iterable[Ticket]) -> Decimal:
    """Return the credits that the calls of a turn may cost, at most those that remain: a call beyond them is refused."""
    remaining = run.opening.max_credits - run.execution.credits_used
    return min(remaining, sum((find_tool(ticket.tool).policy.fee for ticket in tickets), NOTHING))


def hold_sub_calls(run: Run, tickets: Iterable[Ticket]) -> Decimal:
    """Return the credits that are held for the calls of a turn once `tickets` are among them."""
    credits_held = run.execution.credits_held + sum((find_tool(ticket.tool).policy.fee for ticket in tickets), NOTHING)
    return min(run.opening.max_credits - run.committed, credits_held)


def close_account(execution: Execution, run: Run | None, now: datetime) -> tuple[Execution, LedgerEntry | None]:
    """Return the execution with everything charged, and the last ledger entry; None where nothing was ever reserved.

    A model call that was sent and whose reply was lost may have cost its worst case: that is charged, once.
    """
    reserved = execution.credits_reserved + execution.credits_returned  # while it waits for a person, the ledger has both
    if not reserved:
        return execution, None
    # a record that cannot be rebuilt still releases its reservation
    committed, fees, calls = (run.committed, run.fees, run.list_expenses()) if run else (execution.credits_used, NOTHING, [])
    used = execution.credits_used
    if execution.pending_model_calls:
        used = min(reserved, max(used, committed + execution.credits_held))
    final = replace(execution, credits_used=used, pending_model_calls=0, credits_held=NOTHING, model_trouble=ModelTrouble())
    final = replace(final, credits_reserved=reserved, credits_returned=NOTHING)
    rest = reserved - used
    return final, ledger.record_release(final, tokens=used - committed - fees, calls=calls, rest=rest, at=now)


def meter_end(final: Execution, run: Run | None, entry: LedgerEntry | None, now: datetime) -> UsageEvent | None:
    """Return the usage event of the end, with what the last `entry` of the ledger has for tokens."""
    spent = [posting.credits for posting in entry.postings if posting.account == Expense.LLM_TOKENS] if entry else []
    if run is None:
        return meter_unread(final, llm_tokens=sum(spent, NOTHING), at=now)
    turn = run.last.number if run.last else 0
    used = (ticket.result.model_use for ticket in run.settled if ticket.result is not None)
    of_calls = sum((use.credits for use in used if use is not None), NOTHING)  # each call tells its own
    return run.meter(final).build_end(turn, llm_tokens=sum(spent, NOTHING) - of_calls, at=now)

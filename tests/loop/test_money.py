"""Money: the worst is set aside before it may be spent, and a turn is billed once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.credits import ledger
from ferryman.domain.credits.balance import CreditPart
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.usage import Usage
from ferryman.ports.errors import RejectedError, UnavailableError
from tests.loop.conftest import says

PAID = ("api_call", {"url": "https://a.test/"})
TURN = Decimal("0.18")  # ten tokens in and ten out, at 3 and 15 dollars a million


def pay_for(ticket):
    return ToolCallResult("api_call", "", credential_used="KEY", response_status=200)


def settled(stage) -> Decimal:
    """Return what was charged, when the books are in order: every account but the owner's and the expenses' empty."""
    accounts = ledger.sum_accounts(stage.memory.entries.values())
    assert sum(accounts.values()) == 0
    assert accounts["execution:e"] == 0
    used = stage.execution.credits_used
    balance = stage.memory.balances["owner:o"]
    for counted in (balance, balance.parts.get("task:t", CreditPart())):
        assert (counted.credits_used, counted.credits_reserved) == (used, 0)
    assert accounts["owner:o"] == -used
    return used


async def test_tokens_and_fees_are_charged_and_the_rest_goes_back(stage):
    stage.on_call = pay_for
    await stage.run(says("", PAID), says("done"))
    assert settled(stage) == 2 * TURN + Decimal("0.5")
    assert ledger.sum_accounts(stage.memory.entries.values())["api_call_fee"] == Decimal("0.5")


async def test_the_fees_of_all_calls_of_a_turn_are_charged(stage):
    stage.on_call = pay_for
    await stage.run(says("", PAID, ("api_call", {"n": 2})), says("done"))
    assert ledger.sum_accounts(stage.memory.entries.values())["api_call_fee"] == 1


async def test_the_tokens_of_all_turns_are_added_up(stage):
    await stage.run(says("", PAID, tokens=3), says("done", tokens=4))
    assert stage.execution.usage == Usage(input_tokens=7, output_tokens=7)


async def test_a_later_turn_is_never_charged_more_than_is_left_either(stage):
    stage.task(max_credits=Decimal(40))
    await stage.run(says("", ("http_get", {}), tokens=500), says("done", tokens=5_000_000))
    assert settled(stage) == 40


async def test_a_free_call_is_executed_though_no_credit_is_left(stage):
    stage.task(max_credits=Decimal(20))
    await stage.run(says("", ("http_get", {}), PAID, tokens=5_000_000))
    assert [ticket.tool for ticket in stage.executed] == ["http_get"]
    assert stage.results[1].block_reason == "credits_exhausted"


async def test_no_more_fees_are_held_than_credits_are_left(stage):
    samples = []

    def on_call(ticket):
        samples.append((stage.execution.credits_held, stage.execution.credits_used))
        return pay_for(ticket)

    stage.on_call = on_call
    stage.task(max_credits=Decimal(20))
    await stage.run(says("", PAID, PAID, ("api_call", {"n": 1}), tokens=1_077))
    (credits_held, used), *_ = samples
    assert credits_held == 20 - used < 1


async def test_the_worst_a_model_call_may_cost_is_held_while_it_is_under_way(stage):
    class Watching:
        async def reply(self, prompt):
            self.credits_held = stage.execution.credits_held
            self.most = prompt.max_tokens
            return says("done")

    model = stage.model = Watching()
    await stage.run()
    assert model.credits_held > model.most * Decimal("0.015")
    assert stage.execution.credits_held == 0


async def test_what_is_held_and_what_is_used_never_exceed_the_limit(stage):
    seen = []

    class Watching:
        async def reply(self, prompt):
            seen.append(stage.execution.credits_used + stage.execution.credits_held)
            return says("", PAID, tokens=1_000)

    stage.task(max_credits=Decimal(40))
    stage.on_call = pay_for
    stage.model = Watching()
    await stage.run()
    assert len(seen) > 1
    assert max(seen) <= 40
    assert settled(stage) <= 40


async def test_all_that_remains_is_held_before_calls_are_sent_for_them_and_for_the_model_call_after_them(stage):
    samples = []

    def on_call(ticket):
        samples.append((stage.execution.pending_model_calls, stage.execution.credits_held + stage.execution.credits_used))
        return pay_for(ticket)

    stage.on_call = on_call
    await stage.run(says("", PAID, PAID), says("done"))
    assert samples == [(1, 100), (1, 100)]


async def test_a_call_the_credits_do_not_cover_is_refused_and_the_run_goes_on(stage):
    stage.task(max_credits=Decimal(17))
    stage.on_call = pay_for
    await stage.run(says("", *[("api_call", {"n": n}) for n in range(4)], tokens=900), says("never"))
    assert "credits_exhausted" in {result.block_reason for result in stage.results}
    assert settled(stage) <= 17


async def test_a_reply_that_is_rejected_after_it_came_is_paid_for(stage):
    await stage.run(says("", *[("http_get", {"n": n}) for n in range(101)]))
    assert (stage.execution.status, settled(stage)) == (Status.FAILED, TURN)


async def test_a_request_the_provider_refused_costs_nothing(stage):
    await stage.run(RejectedError("no"))
    assert settled(stage) == 0


async def test_a_turn_whose_answer_was_lost_is_asked_for_again_and_billed_once(stage):
    assert not await stage.run(UnavailableError("gone", lost=True))
    assert (stage.execution.pending_model_calls, stage.execution.credits_held > 0) == (1, True)
    await stage.run(says("done"))
    assert settled(stage) == TURN


async def test_an_answer_that_is_lost_every_time_ends_the_execution_and_its_worst_is_charged_once(stage):
    for _ in range(5):
        assert not await stage.run(UnavailableError("gone", lost=True))
    credits_held = stage.execution.credits_held
    assert await stage.run(says("never"))
    assert (stage.execution.status, settled(stage)) == (Status.FAILED, credits_held)
    assert stage.execution.error == "the model was asked 5 times, and every answer was lost: gone"


async def test_a_cancel_while_the_answer_is_lost_charges_its_worst_once(stage):
    await stage.run(UnavailableError("gone", lost=True))
    credits_held = stage.execution.credits_held
    stage.memory.executions["e"] = replace(stage.execution, cancel_requested=True)
    await stage.run(says("never"))
    assert (stage.execution.status, settled(stage)) == (Status.KILLED, credits_held)


async def test_a_provider_that_is_busy_for_long_is_not_counted_as_lost(stage):
    deps = stage.deps
    stage.deps = lambda: replace(deps(), execution_timeout=timedelta(hours=6))
    for _ in range(9):
        await stage.run(UnavailableError("busy", after_s=60))
        stage.clock.turn(60)
    await stage.run(says("done"))
    assert (stage.execution.status, settled(stage)) == (Status.COMPLETED, TURN)


async def test_what_was_charged_in_an_earlier_slice_is_not_charged_again(stage):
    stage.on_call = pay_for
    await stage.run(says("", PAID), UnavailableError("busy", after_s=1))
    await stage.run(says("done"))
    assert settled(stage) == 2 * TURN + Decimal("0.5")


async def test_a_tasks_own_month_is_a_limit_too(stage):
    stage.task(max_credits_month=Decimal(99))
    await stage.run(says("never"))
    assert stage.execution.error is not None
    assert stage.execution.error.startswith("100 credits do not fit: task t may use 99 credits a month")


async def test_a_provider_that_is_busy_does_not_wipe_out_an_answer_that_was_lost_before(stage):
    await stage.run(UnavailableError("gone", lost=True))
    credits_held = stage.execution.credits_held
    await stage.run(UnavailableError("busy", after_s=1))
    assert (stage.execution.pending_model_calls, stage.execution.credits_held) == (1, credits_held)


async def test_a_reply_that_cannot_be_read_is_charged_at_its_worst(stage):
    await stage.run(RejectedError("the model's reply could not be read", lost=True))
    assert settled(stage) > TURN

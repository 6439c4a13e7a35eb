"""The last credits: how many tokens the next reply may have, and what is told when there are too few for one."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

import pytest

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.message import Reply
from ferryman.domain.executions.usage import Usage
from ferryman.ports.errors import UnavailableError
from tests.loop.conftest import fetches, says
from tests.loop.test_money import settled

REACHED = re.compile(
    r"the credit limit of this execution was reached: (\S+) reserved, (\S+) used, and the next turn may need (\S+), "
    r"for its prompt and an answer of (\d+) tokens"
)


def spend(amount: str) -> Reply:
    """Return a first turn that makes a call and costs so many credits, nearly all of them for its answer."""
    tokens = int(Decimal(amount) / Decimal("0.015"))
    return replace(fetches(), usage=Usage(input_tokens=0, output_tokens=tokens))


def read_end(stage) -> tuple[Decimal, Decimal, Decimal, int]:
    """Return what was reserved, used and needed, and the tokens of the answer, as the end tells them."""
    match = REACHED.fullmatch(stage.execution.error)
    assert match is not None, stage.execution.error
    return Decimal(match[1]), Decimal(match[2]), Decimal(match[3]), int(match[4])


async def test_the_answer_is_shortened_to_what_the_last_credits_pay_for(stage):
    await stage.run(spend("70"), says("done"))
    first, last = (prompt.max_tokens for prompt in stage.model.prompts)
    assert first == 4_096 > last >= 256
    assert stage.execution.status is Status.COMPLETED


async def test_no_answer_shorter_than_256_tokens_is_asked_for(stage):
    await stage.run(spend("97"), says("never"))
    assert (stage.execution.status, len(stage.model.prompts)) == (Status.FAILED, 1)


async def test_a_task_that_wants_fewer_tokens_gets_them_to_its_last_credits(stage):
    stage.task(max_tokens=8)
    await stage.run(spend("97"), says("done"))
    assert stage.execution.status is Status.COMPLETED


async def test_the_end_tells_what_was_reserved_used_and_needed(stage):
    await stage.run(spend("99"), says("never"))
    reserved, used, needed, tokens = read_end(stage)
    assert (reserved, used, tokens) == (100, settled(stage), 256)
    assert used + needed > reserved


async def test_a_prompt_that_was_measured_counts_as_it_was_measured(stage):
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, "" if ticket.seq else "\ufffd" * 12_000, response_status=200)
    counted = replace(fetches(), usage=Usage(input_tokens=12_500, output_tokens=1))
    stage.task(max_credits=Decimal(160))
    # of 160 credits, its 72,000 bytes may cost 135 in the second prompt; in the third they would, too, had nobody counted them
    await stage.run(fetches(), counted, says("done"))
    assert (stage.execution.status, stage.execution.output) == (Status.COMPLETED, "done")


async def test_what_is_new_in_a_prompt_counts_by_its_bytes(stage):
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, "x" * 200_000, response_status=200)
    await stage.run(fetches(), says("never"))
    _, _, needed, _ = read_end(stage)
    assert needed > Decimal("0.00375") * 100_000


@pytest.mark.parametrize("used", ["10", "70", "90"])
async def test_another_delivery_gives_the_answer_as_many_tokens(stage, used):
    other = type(stage)()
    await stage.run(spend(used), says("done"))
    await other.run(spend(used), UnavailableError("busy"))
    await other.run(says("done"))
    assert other.model.prompts[-1].max_tokens == stage.model.prompts[-1].max_tokens

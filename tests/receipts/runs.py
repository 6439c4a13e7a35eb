"""Courses: executions that ran on doubles, each another way, with the records and the receipts that they left."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from ferryman import verify_receipts as verifier
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.tools.declared import DeclaredTool, Exchange, Parameter, TokenExchange, build_cluster
from ferryman.inmemory.clock import START
from ferryman.ports.errors import UnavailableError
from ferryman.serving.api.shapes import receipt as receipts
from ferryman.vault import sign
from tests.loop.conftest import Stage, fetches, says
from tests.loop.test_blocks import ENCRYPTED, FUTURE, SEARCH, THOUGHT, thinks
from tests.loop.test_cancel import cancel
from tests.loop.test_sub_calls import GET, AskingStage
from tests.replay.conftest import document
from tests.replay.test_replay import slowly, went_on

Run = Callable[[Stage], Awaitable[object]]

ARGUMENTS = {
    "url": "https://api.coingecko.com/é",
    "query_params": {"n": 1.5, "whole": 2.0, "none": None, "big": 10**20, "on": True},
}


@dataclass(frozen=True, kw_only=True)
class FinishedRun:
    """What an execution left: its record as the API answers it, its document of receipts, and the stage it ran on."""

    record: Any
    receipts: Any
    stage: Stage


def answer(ticket: Any) -> ToolCallResult:
    return ToolCallResult(
        ticket.tool,
        f"answer {ticket.seq} é",
        url="https://api.coingecko.com/é",
        method="GET",
        credential_used="KEY" if ticket.tool == "api_call" else None,
        response_status=200,
        response_size_bytes=12 + ticket.seq,
        latency_ms=3.0 + ticket.seq / 3,
    )


async def with_calls(stage: Stage) -> None:
    stage.start(input="Hello, wörld.")
    stage.on_call = answer
    slowly(stage)
    await stage.run(says("Let's see.", ("api_call", ARGUMENTS), ("http_get", {"n": 0.1})), fetches(2), says("It is 42.\nDone."))


async def with_thinking(stage: Stage) -> None:
    """Take turns with signed, encrypted and unknown blocks, one of which is in two turns."""
    stage.on_call = answer
    slowly(stage)
    first = thinks(THOUGHT, ENCRYPTED, FUTURE, text="I look.", calls=(("http_get", {"n": 1}),))
    await stage.run(first, thinks(THOUGHT, SEARCH, calls=(("http_get", {"n": 2}),)), thinks(ENCRYPTED, text="done"))


async def with_refusals(stage: Stage) -> None:
    stage.on_call = lambda ticket: ToolCallResult.from_refusal(
        ticket.tool, refusal.refuse_leak("KEY"), url="https://a.test/", method="GET"
    )
    slowly(stage)
    same = ("http_get", {"url": "https://a.test/"})
    await stage.run(says("", ("nothing", {}), ("webhook", {"x": []}), same, same, same), says("done"))


async def in_doubt(stage: Stage) -> None:
    """Send calls again, until one is in doubt, over deliveries of other epochs."""
    tickets = stage.tickets

    class Doubting(type(tickets)):  # type: ignore[misc] # a class that is worked out
        async def settle(self, claimed_call: Any, result: Any, *, now: Any, in_doubt: bool = False) -> None:
            await super().settle(claimed_call, result, now=now, in_doubt=claimed_call.again)

    stage.task(tools=("http_get", "http_post"))
    stage.on_call = lambda ticket: UnavailableError("gone")
    await stage.run(says("", ("http_post", {"url": "https://a.test/"}), ("http_get", {"url": "https://a.test/"})))
    stage.clock.turn(60)
    stage.tickets = Doubting(stage.memory)
    stage.on_call = lambda ticket: ToolCallResult.from_refusal(ticket.tool, refusal.IN_DOUBT, method="POST")
    await went_on(stage, (UnavailableError("busy", after_s=30),), (says("done"),))
    assert next((ticket.attempt, ticket.in_doubt) for ticket in stage.memory.tickets["e"].values()) == (2, True)


async def cancelled(stage: Stage) -> None:
    def on_call(ticket: Any) -> ToolCallResult:
        stage.clock.turn(2)
        cancel(stage)
        return answer(ticket)

    stage.on_call = on_call
    await stage.run(fetches(3), says("never"))


async def halted(stage: Stage) -> None:
    def on_call(ticket: Any) -> ToolCallResult:
        stage.memory.halts.add("o")
        return answer(ticket)

    stage.on_call = on_call
    await stage.run(fetches(2), says("never"))


async def without_credits(stage: Stage) -> None:
    stage.on_call = answer
    slowly(stage)
    stage.task(max_credits=Decimal(20))
    await stage.run(says("", ("api_call", {}), tokens=100), says("", ("api_call", {"n": 2}), tokens=1_000), says("never"))
    assert str(stage.execution.error).startswith("the credit limit")


async def declared_and_scheduled(stage: Stage) -> None:
    stage.start(scheduled_for=START - timedelta(microseconds=1), schedule_generation=3)
    parameters = {"id": Parameter(schema={"type": "string"})}
    request = Exchange(url="https://api.coingecko.com/login", body={"key": "{{secrets.KEY}}"})
    tool = DeclaredTool(
        name="getPrice",
        url="https://api.coingecko.com/{id}",
        parameters=parameters,
        auth=TokenExchange(request=request),
        cluster="prices",
    )
    stage.memory.clusters["t"] = {"prices": (build_cluster("prices", 1, [tool]), (tool,))}
    stage.on_call = answer
    stage.task(temperature=1, webhook_urls=("https://hook.test/a",), max_credits_month=Decimal("100.5"))
    await stage.run(says("", ("getPrice", {"id": "btc"}), ("http_get", {"url": "https://a.test/"})), says("done"))


async def with_sub_calls(stage: Stage) -> None:
    """Have a call ask for others, one of which asks again; the last delivery finds one of them settled."""
    asking = AskingStage(memory=stage.memory, clock=stage.clock, queue=stage.queue, keys=stage.keys)
    asking.by_parent = {
        0: [[GET, ("calculator", {"expression": "2"})], [("http_get", {"n": 1})]],
        3: [[("http_get", {"n": 2})]],
    }
    asking.on_call = answer
    slowly(asking)
    await asking.run(says("", ("calculator", {"expression": "1"}), GET), says("", ("http_get", {"n": 3})), says("done"))
    assert len(asking.memory.tickets["e"]) == 7


async def direct_call(stage: Stage) -> None:
    """Make the call that the execution was started with, which no model asked for."""
    stage.start(called_tool="api_call", input=json.dumps(ARGUMENTS), is_from_client=True)
    stage.on_call = answer
    slowly(stage)
    await stage.run()
    assert stage.execution.output == "answer 0 é"


async def never_opened(stage: Stage) -> None:
    stage.task(enabled=False)
    await stage.run(says("never"))


RUNS: dict[str, Run] = {
    run.__name__: run
    for run in (
        *(with_calls, with_thinking, with_refusals, in_doubt, cancelled, halted),
        *(without_credits, declared_and_scheduled, with_sub_calls, direct_call, never_opened),
    )
}


async def finish_run(run: Run, stage: Stage | None = None) -> FinishedRun:
    """Return what an execution that ran by `course` left."""
    stage = stage or Stage()
    await run(stage)
    return collect_run(stage)


def collect_run(stage: Stage) -> FinishedRun:
    """Collect the stored record of the stage's execution so far."""
    stored = stage.memory.receipts.get("e", {})
    entries = [entry for first in sorted(stored) for entry in stored[first]]
    keys = {version: sign.derive_public_key(private) for version, private in stage.keys.privates.items()}
    chain = receipts.to_chain("e", entries, receipts.to_public_keys(keys)).model_dump_json(exclude={"next"}, exclude_unset=True)
    return FinishedRun(record=document(stage), receipts=json.loads(chain), stage=stage)


def fits(record: Any, chain: Any) -> bool:
    """Tell whether a verifier says that all of the record is what was signed, in a chain that is whole."""
    try:
        return verifier.verify(chain)[0] == verifier.WHOLE and verifier.compare(chain, record) == ([], [])
    except (verifier.VerificationError, ValueError, KeyError, TypeError, AttributeError):
        return False

"""Sub-calls: what a call asks for before it is answered passes all that every call passes, and counts like it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import pytest

from ferryman.catalog.tools import find_tool
from ferryman.domain.calls.call import Ticket, TicketState, ToolCall, ToolCallResult
from ferryman.domain.calls.sub_calls import SubCalls
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.receipts.receipt import ReceiptKind
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.journal import compute_rate, rebuild
from ferryman.loop.sub_calls import CALLS_MAX
from ferryman.ports.errors import UnavailableError
from ferryman.ports.tickets import CallRequest
from ferryman.tools.registry import ToolRegistry
from tests.loop.conftest import KEY, Stage, redacted, says
from tests.loop.test_cancel import cancel
from tests.loop.test_limits import guru
from tests.replay.test_replay import slowly

CallBatch = Sequence[tuple[str, Mapping[str, Any]]]
GET = ("http_get", {"url": "https://api.coingecko.com/0"})


@dataclass
class AskingStage(Stage):
    """A stage on which a call of `calculator` asks for calls: each batch of `asks` once those before it have settled."""

    asks: Sequence[CallBatch] = field(default=())
    on_ask: Callable[[int], None] = field(default=lambda batch: None)
    texts: list[str] = field(default_factory=list)
    by_parent: dict[int, Sequence[CallBatch]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.task(tools=("http_get", "api_call", "calculator"))

    def deps(self) -> LoopDependencies:
        return replace(super().deps(), registry=ToolRegistry(self._execute, {"local_function": self._ask}))

    async def _ask(self, ticket: Ticket, *, execution: Execution) -> Ticket | SubCalls:
        children = [other for other in self.memory.tickets["e"].values() if other.parent == ticket.seq]
        assert all(other.result is not None for other in children), "it is executed again once all have settled"
        rest, done = self.by_parent.get(ticket.seq, self.asks), len(children)
        for number, batch in enumerate(rest):
            if done == 0:
                self.on_ask(number)
                calls = (ToolCall(id=f"s{ticket.seq}_{n}", name=name, arguments=what) for n, (name, what) in enumerate(batch))
                return SubCalls(tuple(calls))
            done -= len(batch)
        self.texts = [other.result.content for other in children if other.result is not None]
        now = self.clock.now()
        request = CallRequest(execution="e", seq=ticket.seq, epoch=execution.epoch, task="t", owner="o")
        claimed = await self.tickets.claim(request, tool=find_tool(ticket.tool).function, now=now)
        await self.tickets.settle(claimed, ToolCallResult(ticket.tool, "; ".join(self.texts)), now=now)
        return self.memory.tickets["e"][ticket.seq]


@pytest.fixture
def stage() -> AskingStage:
    return AskingStage()


def asks(*more: tuple[str, Any]) -> Any:
    return says("", ("calculator", {"expression": "1"}), *more)


def numbers(stage: Stage) -> list[tuple[int, int | None, int]]:
    return [(ticket.seq, ticket.parent, ticket.step) for _, ticket in sorted(stage.memory.tickets["e"].items())]


async def test_sub_calls_are_executed_before_the_call_that_asked_and_before_those_after_it(stage):
    stage.asks = [[GET, ("http_get", {"n": 1})], [("http_get", {"n": 2})]]
    await stage.run(asks(("http_get", {"n": 3})), says("", ("http_get", {"n": 4})), says("done"))
    assert stage.execution.output == "done"
    assert numbers(stage) == [(0, None, 1), (1, None, 1), (2, 0, 1), (3, 0, 1), (4, 0, 1), (5, None, 2)]
    assert [ticket.seq for ticket in stage.executed] == [2, 3, 4, 1, 5]
    assert stage.texts == ["answer 2", "answer 3", "answer 4"]


async def test_the_model_reads_the_results_of_its_own_calls_alone(stage):
    stage.asks = [[GET]]
    await stage.run(asks(("http_get", {"n": 3})), says("done"))
    blocks = stage.model.prompts[-1].messages[-1]["content"]
    assert [(block["tool_use_id"], block["content"]) for block in blocks] == [("toolu_0", "answer 2"), ("toolu_1", "answer 1")]


async def test_a_sub_call_may_ask_for_calls_itself(stage):
    stage.by_parent = {0: [[("calculator", {"expression": "2"})]], 1: [[GET]]}
    await stage.run(asks(), says("done"))
    assert numbers(stage) == [(0, None, 1), (1, 0, 1), (2, 1, 1)]
    assert stage.execution.tool_calls_total == 3


async def test_every_sub_call_is_in_the_audit_list_and_costs_its_fee(stage):
    stage.asks = [[("api_call", {"n": 1})]]
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, "ok", response_status=200, credential_used="KEY")
    await stage.run(asks(), says("done"))
    assert [row.tool for row in stage.execution.tool_calls] == ["api_call", "calculator"]
    paid = sum((step.credits for step in stage.memory.steps["e"].values()), Decimal(0))
    assert stage.execution.credits_used == paid + Decimal("0.5")


async def test_a_tool_that_is_not_enabled_is_not_reached_by_asking_for_it(stage):
    stage.asks = [[("http_post", {"url": "https://api.coingecko.com/"}), ("nothing", {})]]
    await stage.run(asks(), says("done"))
    reasons = [ticket.result.block_reason for _, ticket in sorted(stage.memory.tickets["e"].items()) if ticket.parent == 0]
    assert reasons == ["tool_not_enabled", "unknown_tool"]
    assert stage.executed == []


async def test_the_same_sub_call_is_refused_the_third_time(stage):
    stage.asks = [[GET, GET, GET]]
    await stage.run(asks(), says("done"))
    assert [ticket.result.block_reason for _, ticket in sorted(stage.memory.tickets["e"].items())][1:] == [
        *(None, None),
        "repeated_call",
    ]


async def test_a_call_of_the_model_is_refused_where_sub_calls_have_made_it_twice(stage):
    stage.asks = [[GET, GET]]
    await stage.run(asks(GET), says("done"))
    assert stage.memory.tickets["e"][1].result.block_reason == "repeated_call"


async def test_sub_calls_count_for_the_calls_of_a_minute(stage):
    guru(stage)
    stage.asks = [[("http_get", {"n": n}) for n in range(11)]]
    await stage.run(asks(), says("done"))
    results = [ticket.result for _, ticket in sorted(stage.memory.tickets["e"].items()) if ticket.parent == 0]
    assert [result.block_reason for result in results] == [None] * 10 + ["rate_limited"]


async def test_a_sub_call_is_refused_where_the_credits_are_used_up(stage):
    stage.task(max_credits=Decimal(20))
    stage.asks = [[("api_call", {"n": n}) for n in range(5)]]
    stage.on_call = lambda ticket: ToolCallResult(ticket.tool, "ok", response_status=200, credential_used="KEY")
    await stage.run(says("", ("calculator", {"expression": "1"}), tokens=1_000))  # 18 credits
    results = [ticket.result for _, ticket in sorted(stage.memory.tickets["e"].items()) if ticket.parent == 0]
    assert [result.block_reason for result in results] == [*[None] * 4, "credits_exhausted"]
    assert stage.execution.credits_used == 20


async def test_a_turn_has_at_most_so_many_calls_with_its_sub_calls(stage):
    stage.asks = [[("http_get", {"n": n}) for n in range(CALLS_MAX)]]
    await stage.run(asks(), says("done"))
    assert numbers(stage) == [(0, None, 1)]
    assert stage.memory.tickets["e"][0].result.block_reason == "too_many_calls"
    assert stage.execution.status is Status.COMPLETED


async def test_the_arguments_are_scanned_before_they_are_stored(stage):
    stage.on_scan = redacted
    stage.task(tools=("http_get", "import_openapi_tools", "calculator"))  # its tokens are secrets to be scanned for
    stage.asks = [[("http_get", {"url": f"https://api.coingecko.com/{KEY}"})]]
    await stage.run(asks(), says("done"))
    assert stage.memory.tickets["e"][1].display_arguments == {"url": "https://api.coingecko.com/[redacted:KEY]"}
    assert stage.memory.tickets["e"][1].arguments.startswith(b"sealed:")
    assert stage.memory.tickets["e"][1].redacted


async def test_sub_calls_are_signed_before_they_are_sent(stage):
    stage.asks = [[GET]]
    signed: list[list[tuple[Any, Any]]] = []

    def on_call(ticket: Ticket) -> ToolCallResult:
        entries = [entry for _, part in sorted(stage.memory.receipts["e"].items()) for entry in part]
        planned = [entry.members for entry in entries if entry.kind is ReceiptKind.PLANNED]
        signed.append([(members["seq"], members["parent"]) for members in planned])
        return ToolCallResult(ticket.tool, "ok", response_status=200)

    stage.on_call = on_call
    await stage.run(asks(), says("done"))
    assert signed == [[(0, None), (1, 0)]]


async def test_another_delivery_goes_on_with_the_sub_calls_that_are_journaled(stage):
    stage.asks = [[GET, ("http_get", {"n": 1})]]
    lost = [UnavailableError("gone", after_s=1)]
    answer = stage.on_call
    stage.on_call = lambda ticket: lost.pop() if ticket.seq == 2 and lost else answer(ticket)
    await stage.run(asks(("http_get", {"n": 2})))
    stage.clock.turn(60)
    await stage.run(says("done"))
    assert (stage.execution.output, numbers(stage)) == ("done", [(0, None, 1), (1, None, 1), (2, 0, 1), (3, 0, 1)])
    assert [ticket.seq for ticket in stage.executed] == [2, 2, 3, 1]


async def test_a_cancel_settles_what_was_asked_for_and_the_call_that_asked(stage):
    stage.asks = [[GET, ("http_get", {"n": 1})]]

    def on_call(ticket: Ticket) -> ToolCallResult:
        cancel(stage)
        return ToolCallResult(ticket.tool, "ok", response_status=200)

    stage.on_call = on_call
    await stage.run(asks(), says("never"))
    tickets = [ticket for _, ticket in sorted(stage.memory.tickets["e"].items())]
    assert all(ticket.state is TicketState.SETTLED for ticket in tickets)
    assert [ticket.result.block_reason for ticket in tickets] == ["cancelled", None, "cancelled"]


async def test_what_was_sent_counts_by_when_it_was_sent_and_not_by_its_number(stage):
    stage.asks = [[GET]]
    slowly(stage, 40)
    await stage.run(asks(("http_get", {"n": 1}), ("http_get", {"n": 2})), says("done"))
    tickets = [ticket for _, ticket in sorted(stage.memory.tickets["e"].items())]
    rate = compute_rate(tickets)
    assert (rate.calls, rate.window_calls) == (3, 1)  # after 0, 40 and 80 seconds


async def test_a_run_is_rebuilt_with_the_numbers_of_sub_calls_taken(stage):
    stage.asks = [[GET]]
    await stage.run(asks(), says("", ("http_get", {"n": 1})), says("done"))
    memory = stage.memory
    tickets = [ticket for _, ticket in sorted(memory.tickets["e"].items())]
    steps = [step for _, step in sorted(memory.steps["e"].items())]
    run = rebuild(stage.execution, memory.openings["e"], steps[:1], tickets[:2])
    assert ([ticket.seq for ticket in run.pending], run.next_call) == ([1, 0], 2)


async def test_the_receipt_of_a_turn_comes_after_those_of_the_sub_calls_before(stage):
    stage.asks = [[GET, ("http_get", {"n": 1})], [("http_get", {"n": 2})]]
    await stage.run(asks(), says("done"))
    kinds = [receipt.kind for commit in stage.memory.receipts["e"].values() for receipt in commit]
    assert [kinds[step.receipt] for _, step in sorted(stage.memory.steps["e"].items())] == [ReceiptKind.REPLIED] * 2

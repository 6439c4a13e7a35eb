"""Whatever a model says and whatever becomes of its calls, the replay comes to the same."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.executions.halt import DISABLED
from ferryman.inmemory.model import ScriptedModel
from ferryman.loop.run import deliver
from ferryman.ports.errors import RejectedError, UnavailableError
from tests.loop.conftest import Stage, says
from tests.loop.test_cancel import cancel
from tests.loop.test_limits import guru
from tests.loop.test_unreached import unreached
from tests.replay.conftest import otherwise

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
URLS = st.sampled_from([f"https://a.test/{number}" for number in range(3)])
CALLS = st.tuples(
    st.sampled_from(["http_get", "http_get", "api_call", "webhook", "nothing"]),
    st.fixed_dictionaries({"url": URLS}, optional={"body": VALUES, "credential": TEXTS}),
)
REPLIES = st.builds(
    lambda text, calls, tokens: says(text, *calls, tokens=tokens),
    TEXTS,
    st.lists(CALLS, min_size=1, max_size=4),
    st.integers(0, 2_000),
)
ENDS = st.sampled_from(
    [
        says("done"),
        says("cut", stop="max_tokens"),
        RejectedError("the provider refused"),
        RejectedError("the reply could not be read", lost=True),
        RuntimeError("ours"),
        unreached(attempts=30),
    ]
)
PAUSES = st.sampled_from(
    [UnavailableError("busy"), UnavailableError("busy", after_s=20), UnavailableError("gone", lost=True), unreached()]
)
OUTCOMES = st.sampled_from(["answered", "answered", "answered", "refused", "failed", "lost", "cancel", "disable"])


def results(outcome, ticket):
    """Build the result of a tool call with this outcome."""
    if outcome == "refused":
        return ToolCallResult.from_refusal(ticket.tool, refusal.refuse_leak("KEY"), url="https://a.test/")
    if outcome == "failed":
        return ToolCallResult.from_refusal(ticket.tool, refusal.report_timeout(30))
    paid = "KEY" if ticket.tool == "api_call" else None
    return ToolCallResult(ticket.tool, f"answer {ticket.seq}", credential_used=paid, response_status=200, latency_ms=0.1)


@settings(max_examples=60, deadline=None)
@given(
    replies=st.lists(st.tuples(REPLIES, st.none() | PAUSES), max_size=6),
    last_pause=st.none() | PAUSES,
    end=ENDS,
    outcomes=st.lists(OUTCOMES, max_size=12),
    steps=st.lists(st.integers(0, 90_000), min_size=1, max_size=8),
    iterations=st.integers(1, 4),
    most=st.sampled_from([Decimal(20), Decimal(100)]),
    few=st.booleans(),
)
async def test_a_random_execution_replays_identically(replies, last_pause, end, outcomes, steps, iterations, most, few):
    stage = Stage()
    if few:
        guru(stage, calls_per_minute=3, calls_per_execution=6)
    stage.task(max_iterations=iterations, max_credits=most)
    waiting, moves = list(outcomes), iter(range(10_000))

    def on_call(ticket):
        stage.clock.turn(timedelta(milliseconds=steps[next(moves) % len(steps)]))
        outcome = waiting.pop(0) if waiting else "answered"
        if outcome == "lost":
            return UnavailableError("gone")
        if outcome == "cancel":
            cancel(stage)
        if outcome == "disable":
            stage.task(enabled=False)
        return results(outcome, ticket)

    stage.on_call = on_call
    script = [drawn for reply, pause in replies for drawn in ([reply] if pause is None else [pause, reply])]
    script += [] if last_pause is None else [last_pause]
    stage.model = ScriptedModel([*script, end, *[says("done")] * 8])
    for _ in range(60):
        await deliver(stage.deps(), "e", slice=stage.execution.slice, holder="h")
        if stage.execution.status.terminal:
            break
        stage.clock.turn(40)
    assert stage.execution.status.terminal
    assert await otherwise(stage) == []


async def test_a_task_that_is_disabled_where_the_credits_would_end_it_too_is_replayed_as_disabled():
    stage = Stage()
    stage.task(max_credits=Decimal(10))

    def disable(ticket):
        stage.task(enabled=False)
        return ToolCallResult(ticket.tool, "answer", response_status=200)

    stage.on_call = disable
    stage.model = ScriptedModel([says("", ("http_get", {"url": "https://a.test/0"}), tokens=410), says("done")])
    await deliver(stage.deps(), "e", slice=0, holder="h")
    assert stage.execution.error == DISABLED
    assert stage.execution.credits_used > 5  # the next turn may need more than is left
    assert await otherwise(stage) == []

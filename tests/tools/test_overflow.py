"""Answers longer than is shown, in a tool function: what is scanned is stored with the result, and the call is not settled."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from ferryman.domain.calls.call import SETTLING_TIME, TicketState, ToolCallResult
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.calls.refusal import CallRefusedError, refuse_unchecked
from ferryman.domain.files.kept import Overflow
from ferryman.offload import JobFailedError
from ferryman.ports.gate import ScannedText
from tests.tools.harness import ToolHarness

MOST = 50_000
LONG = "ä" * 120_000
UNCHECKED = "\nOnly 50,000 characters are shown, and the rest is not kept: it could not be checked for credentials."


@dataclass
class LongHarness(ToolHarness):
    """A tool function whose gate answers with more than is shown."""

    read: ScannedText | Exception = field(default_factory=lambda: ScannedText(LONG))

    async def scan(self) -> ScannedText:
        if isinstance(self.read, Exception):
            raise self.read
        return self.read

    async def send(self, outbound: Any, call: Any) -> ToolCallResult:
        result = await super().send(outbound, call)
        call.long.scan = self.scan
        content = f"<t>{LONG[:MOST]}</t>"
        part = Part(kind=PartKind.TEXT, start=3, end=3 + MOST)
        return replace(result, content=content, parts=(part,)) if result.ok else result

    def enable(self, *tools: str) -> None:
        """Let the task use further tools."""
        execution = self.memory.executions["e"]
        assert execution.policy is not None
        policy = replace(execution.policy, tools=(*execution.policy.tools, *tools))
        self.memory.executions["e"] = replace(execution, policy=policy)

    @property
    def overflow(self) -> Overflow | None:
        return self.memory.overflows.get("e", {}).get(0)


@pytest.fixture
def harness() -> LongHarness:
    harness = LongHarness()
    harness.enable("file_read")
    return harness


async def test_the_call_has_answered_with_all_of_its_text(harness: LongHarness) -> None:
    result = await harness.execute()
    assert (harness.ticket.is_answered, harness.ticket.result) == (True, result)
    assert harness.overflow == Overflow(content=LONG.encode(), offset=2 * MOST, is_all=True)


async def test_its_parts_are_labelled_by_then(harness: LongHarness) -> None:
    (part,) = (await harness.execute()).parts
    assert [source.call for source in part.label.sources] == [0]


async def test_it_is_not_sent_again(harness: LongHarness) -> None:
    first = await harness.execute()
    assert (await harness.execute(), len(harness.sent)) == (first, 1)


@pytest.mark.parametrize("read", [ScannedText(LONG, is_cut=True), ScannedText(LONG, is_part=True)])
async def test_a_part_is_not_told_as_all(harness: LongHarness, read: ScannedText) -> None:
    harness.read = read
    await harness.execute()
    assert harness.overflow is not None
    assert not harness.overflow.is_all


async def test_a_task_that_cannot_read_on_has_the_result_cut_as_ever() -> None:
    harness = LongHarness()
    result = await harness.execute()
    assert (harness.ticket.state, harness.overflow) == (TicketState.SETTLED, None)
    assert result.content.endswith("</t>")


async def test_a_failure_keeps_nothing(harness: LongHarness) -> None:
    harness.answer = ToolCallResult("api_call", "HTTP Error: 404", ok=False, code="not_found", response_status=404)
    await harness.execute()
    assert (harness.ticket.state, harness.overflow) == (TicketState.SETTLED, None)


async def test_a_call_that_is_in_doubt_keeps_nothing(harness: LongHarness) -> None:
    harness.arguments_ = {**harness.arguments_, "method": "POST"}
    harness.answer = ToolCallResult("api_call", "Error", method="POST", ok=False, code="timeout")
    await harness.execute()
    assert (harness.ticket.state, harness.ticket.in_doubt, harness.overflow) == (TicketState.SETTLED, True, None)


async def test_a_blocked_call_keeps_nothing(harness: LongHarness) -> None:
    harness.ask("webhook")
    assert ((await harness.execute("webhook")).blocked, harness.overflow) == (True, None)


async def test_what_a_post_answers_is_kept_too(harness: LongHarness) -> None:
    harness.arguments_ = {**harness.arguments_, "method": "POST"}
    await harness.execute()
    assert harness.overflow is not None


async def test_a_text_that_is_short_without_what_nobody_sees_is_settled(harness: LongHarness) -> None:
    harness.read = ScannedText("short")
    assert ((await harness.execute()).content[-4:], harness.ticket.state) == ("</t>", TicketState.SETTLED)


REFUSED = CallRefusedError(refuse_unchecked("response", "it takes more than it may"))


@pytest.mark.parametrize("fault", [REFUSED, JobFailedError("RecursionError"), TimeoutError()])
async def test_what_could_not_be_scanned_is_not_kept_and_the_result_says_so(harness: LongHarness, fault: Exception) -> None:
    harness.read = fault
    result = await harness.execute()
    assert (harness.ticket.state, harness.overflow, result.ok) == (TicketState.SETTLED, None, True)
    assert result.content.endswith(UNCHECKED)


async def test_bytes_that_are_no_text_are_not_kept(harness: LongHarness) -> None:
    harness.read = ScannedText(None)
    assert (await harness.execute()).content.endswith("the rest is not kept: it is not text all through.")


async def test_nothing_is_scanned_beyond_the_time_of_the_call(harness: LongHarness) -> None:
    async def wait_long(_: object) -> None:
        assert harness.ticket.deadline is not None
        harness.clock.turn(harness.ticket.deadline - SETTLING_TIME - harness.clock.now())

    async def never() -> ScannedText:
        await asyncio.Event().wait()
        raise AssertionError("it is not awaited for ever")

    harness.on_send, harness.scan = wait_long, never  # type: ignore[method-assign]
    assert (await harness.execute()).content.endswith(UNCHECKED)

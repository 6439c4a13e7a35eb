"""The hook of a kind: asked before the function is, reported what it said, and able to refuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import CALL_ATTEMPTS_MAX, TicketState
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.executions.execution import Execution
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.ports.tickets import ClaimedCall
from tests.tools.keyless.test_calling import ARGUMENTS, Caller


@dataclass
class Hook:
    """A hook that notes what it was asked and reported."""

    adds: Mapping[str, Any] = field(default_factory=dict)
    raises: Exception | None = None
    objects: Exception | None = None
    reported: list[KeylessAnswer | None] = field(default_factory=list)

    async def prepare(self, claimed: ClaimedCall, execution: Execution) -> Mapping[str, Any]:
        assert (claimed.call_request.execution, execution.id) == ("e", "e")
        if self.raises is not None:
            raise self.raises
        return self.adds

    def label_answer(self, answer: KeylessAnswer) -> None:
        """Return None: the label is that of the tool's entry."""

    async def conclude(self, claimed: ClaimedCall, execution: Execution, answer: KeylessAnswer | None) -> None:
        self.reported.append(answer)
        if self.objects is not None:
            raise self.objects


def build_caller(hook: Hook) -> Caller:
    """Return a caller whose kind of tool has this hook."""
    caller = Caller()
    caller.calls = replace(caller.calls, hooks={"local_function": hook})
    return caller


async def test_what_a_hook_adds_is_posted_and_replaces_nothing() -> None:
    caller = build_caller(Hook(adds={"quota": 5, "arguments": {"expression": "2"}}))
    await caller.execute()
    body = caller.requests[0][1]
    assert (body["quota"], body["arguments"]) == (5, ARGUMENTS)


async def test_a_hook_reads_what_its_function_tells_it_alone() -> None:
    hook = Hook()
    caller = build_caller(hook)
    caller.reported = {"about": {"size": 3}}
    settled = await caller.execute()
    assert [answer and answer.about for answer in hook.reported] == [{"size": 3}]
    assert settled.result is not None
    assert settled.result.content == "43"


async def test_a_call_that_a_hook_refuses_is_not_made() -> None:
    hook = Hook(raises=CallRefusedError(refusal.refuse_host("a.test", ())))
    caller = build_caller(hook)
    settled = await caller.execute()
    assert settled.result is not None
    assert (settled.state, settled.result.block_reason, settled) == (TicketState.SETTLED, "url_blocked", caller.ticket)
    assert (caller.requests, hook.reported) == ([], [])


@pytest.mark.parametrize("hook", [Hook(raises=UnavailableError("later")), Hook(objects=UnavailableError("later"))])
async def test_a_call_whose_hook_has_no_store_is_given_back(hook: Hook) -> None:
    caller = build_caller(hook)
    with pytest.raises(UnavailableError):
        await caller.execute()
    assert caller.ticket.state is TicketState.INTENDED


async def test_an_answer_that_a_hook_does_not_accept_is_a_fault() -> None:
    caller = build_caller(Hook(objects=RejectedError("more was written than was set aside")))
    settled = await caller.execute()
    assert settled.result is not None
    assert settled.result.block_reason == "internal_fault"


async def test_a_hook_is_told_that_no_answer_will_come() -> None:
    hook = Hook()
    caller = build_caller(hook)
    caller.says = RejectedError("no answer at all")
    await caller.execute()
    assert hook.reported == [None]


async def test_a_hook_is_told_that_the_call_is_not_made_any_more() -> None:
    hook = Hook()
    caller = build_caller(hook)
    caller.memory.tickets["e"][0] = replace(caller.ticket, attempt=CALL_ATTEMPTS_MAX)
    await caller.execute()
    assert (hook.reported, caller.requests) == ([None], [])

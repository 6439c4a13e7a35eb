"""A call that waits for a person, decided about in `ferryman chat`, on an API on doubles."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import pytest

from ferryman.cli.chat_approvals import ChatApprovals
from ferryman.cli.chat_screen import AnswerScreen
from ferryman.cli.commands import ApiSession
from ferryman.cli.screen import Screen
from ferryman.client import AnswerEvent, AsyncClient
from ferryman.domain.approvals.approval import Approval, ApprovalState
from ferryman.domain.executions.execution import Status
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.inmemory.clock import ManualClock
from tests.builders import build_execution
from tests.serving.conftest import Stage
from tests.serving.values import build_approval

Answering = Callable[..., ChatApprovals]


@pytest.fixture
async def answering(service: dict[str, str], clock: ManualClock) -> AsyncIterator[Answering]:
    """What decides as a person does who types these lines, one after the other."""
    clock.turn(60)
    async with AsyncClient(service["FERRYMAN_URL"], service["FERRYMAN_KEY"], workspace="") as client:

        def answer(*lines: str) -> ChatApprovals:
            typed = iter(lines)
            return ChatApprovals(ApiSession(client=client, screen=Screen()), lambda _: next(typed, None))

        yield answer


@pytest.fixture
def pending(stage: Stage, clock: ManualClock, request: pytest.FixtureRequest) -> Approval:
    """A call that waits, in a conversation."""
    name = f"appr_chat_{abs(hash(request.node.name)) % 10**12}"
    conversation = f"conv_{name}"
    approval = build_approval("ann", id=name, execution=f"exec_{name}", created_at=clock.now(), conversation=conversation)
    fields = {"task": approval.task, "owner": "ann", "workspace": derive_default_workspace("ann"), "waiting_for": name}
    stage.memory.executions[approval.execution] = build_execution(id=approval.execution, status=Status.RUNNING, **fields)
    stage.memory.approvals[name] = approval
    return approval


async def test_who_is_asked_in_a_chat_sees_where_each_argument_came_from(
    answering: Answering, pending: Approval, capsys: pytest.CaptureFixture[str]
) -> None:
    await answering("").ask(pending.id)
    assert "UNTRUSTED" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("lines", "state", "reason"),
    [
        (("y",), ApprovalState.APPROVED, ""),
        (("n",), ApprovalState.DENIED, ""),
        (("n not on a Sunday",), ApprovalState.DENIED, "not on a Sunday"),
        (("that is too much",), ApprovalState.DENIED, "that is too much"),
        (("yes please", "y"), ApprovalState.APPROVED, ""),
        (("e", "no JSON", '{"url": "https://api.github.com/gists"}'), ApprovalState.EDITED, ""),
    ],
)
async def test_what_is_typed_decides(
    answering: Answering, pending: Approval, stage: Stage, lines: tuple[str, ...], state: ApprovalState, reason: str
) -> None:
    assert await answering(*lines).ask(pending.id)
    stored = stage.memory.approvals[pending.id]
    assert stored.decided is not None
    assert (stored.state, stored.decided.decision.reason) == (state, reason)


async def test_d_approves_and_declassifies_the_value_that_is_typed(
    answering: Answering, pending: Approval, stage: Stage
) -> None:
    assert await answering("d", "https://api.github.com/gists").ask(pending.id)
    stored = stage.memory.approvals[pending.id]
    assert stored.decided is not None
    decision = stored.decided.decision
    assert (stored.state, decision.declassified) == (ApprovalState.APPROVED, "https://api.github.com/gists")


async def test_d_without_a_value_leaves_it_waiting(answering: Answering, pending: Approval, stage: Stage) -> None:
    assert not await answering("d", "").ask(pending.id)
    assert stage.memory.approvals[pending.id].state is ApprovalState.PENDING


async def test_a_value_that_is_not_there_is_refused_and_asked_for_again(
    answering: Answering, pending: Approval, stage: Stage
) -> None:
    assert await answering("d", "https://api.github.com/other", "n").ask(pending.id)
    assert stage.memory.approvals[pending.id].state is ApprovalState.DENIED


async def test_nothing_that_is_typed_leaves_it_waiting(answering: Answering, pending: Approval, stage: Stage) -> None:
    assert not await answering("").ask(pending.id)
    assert stage.memory.approvals[pending.id].state is ApprovalState.PENDING


async def test_all_that_would_be_sent_is_shown_first(
    answering: Answering, pending: Approval, capsys: pytest.CaptureFixture[str]
) -> None:
    await answering("").ask(pending.id)
    printed = capsys.readouterr().out
    assert pending.digest in printed
    assert "https://api.github.com/gists" in printed


async def test_what_was_decided_elsewhere_is_not_asked_again(answering: Answering, pending: Approval) -> None:
    assert await answering("n").ask(pending.id)
    assert await answering().ask(pending.id)


async def test_what_waits_is_that_of_the_conversation(answering: Answering, pending: Approval) -> None:
    waiting = await answering().list_waiting(pending.conversation)
    assert [item["approval_id"] for item in waiting] == [pending.id]


def test_a_pipe_is_told_what_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    body = {"type": "approval_required", "approvalId": "appr_1", "toolCallId": "c", "name": "http_post", "digest": "ab"}
    with AnswerScreen(Screen()) as screen:
        screen.print_event(AnswerEvent(id="", kind="approval_required", body=body))
    assert "ferryman approvals show appr_1" in capsys.readouterr().err

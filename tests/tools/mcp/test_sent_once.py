"""A call that was sent is never sent again, also where our own store does not answer while the server wants something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from emulator.internet.mcp import McpRules, SimulatedMcpServer
from emulator.internet.mcp.tools import describe_form
from ferryman.catalog.tools import REMOTE, get_fee
from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.domain.calls.call import TicketState
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.ports.errors import UnavailableError
from ferryman.tools.mcp.preparing import make_remote_preparer

from .rig import API_KEY, RemoteRig
from .scripted import ScriptedServer, StatusServer
from .test_calling import ALWAYS

ASKING = {"booking": {"method": "elicitation/create", "params": describe_form()}}


class FaultyApprovals(MemoryApprovals):
    """Approvals whose store does not answer while `is_absent`."""

    is_absent = True

    async def get(self, approval: str) -> Any:
        if self.is_absent:
            raise UnavailableError("the store does not answer")
        return await super().get(approval)


def lose_approvals(rig: RemoteRig) -> FaultyApprovals:
    approvals = FaultyApprovals(rig.memory)
    assert rig.tools.approving is not None
    tools = replace(rig.tools, approving=replace(rig.tools.approving, approvals=approvals))
    rig.tools = replace(tools, prepare=make_remote_preparer(replace(rig.remote, tools=tools)))
    return approvals


def build_task(status: str) -> dict[str, Any]:
    asking = {"inputRequests": ASKING} if status == "input_required" else {}
    return {"taskId": "work-1", "status": status, "ttlMs": 3_600_000, "pollIntervalMs": 4_000, **asking}


def start_asking(_: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"resultType": "task", **build_task("input_required")}


def ask_on(_: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"resultType": "complete", **build_task("input_required")}


async def test_a_question_that_cannot_be_stored_leaves_the_call_in_doubt_and_sent_once() -> None:
    rig = RemoteRig(tool="desk__book_table", arguments={"day": "Friday"})
    await rig.begin()
    lose_approvals(rig)
    first, second = await rig.send(), await rig.send()
    assert (first.in_doubt, second.in_doubt, rig.count_calls()) == (True, True, 1)


async def test_work_whose_question_cannot_be_stored_was_begun_once_and_asks_again() -> None:
    rig = RemoteRig()
    await rig.begin()
    assert isinstance(rig.peer.server, SimulatedMcpServer)
    server = ScriptedServer(rig.peer.server, {"tools/call": start_asking, "tasks/get": ask_on})
    rig.peer.server = server  # type: ignore[assignment] # answers as one does
    approvals = lose_approvals(rig)
    assert (await rig.send()).state is TicketState.INTENDED
    approvals.is_absent = False
    rig.clock.turn(timedelta(seconds=10))
    assert (await rig.send()).state is TicketState.WAITING
    assert (server.count("tools/call"), server.count("tasks/get")) == (1, 1)


async def test_who_declines_a_question_of_a_call_that_was_approved_is_told_to_the_server_and_denies_no_call() -> None:
    rig = RemoteRig(tool="desk__book_table", arguments={"day": "Friday"}, approvals=ALWAYS)
    await rig.begin()
    await rig.send()
    await rig.decide()
    await rig.send()
    await rig.decide(DecisionVerdict.DENY)
    result = (await rig.send()).result
    assert result is not None
    assert ("not booked: decline" in result.content, result.blocked, rig.count_calls()) == (True, False, 2)


async def test_a_call_that_goes_on_and_is_refused_is_none_that_was_never_sent() -> None:
    rig = RemoteRig(tool="desk__book_table", arguments={"day": "Friday"})
    await rig.begin()
    await rig.send()
    await rig.answer({"booking": {"people": 4, "hour": "20:00"}})
    rig.clock.turn(timedelta(minutes=2))
    rig.peer.server.rules = replace(rig.rules, changed={"book_table": {"description": "other"}})  # type: ignore[union-attr]
    ticket = await rig.send()
    assert ticket.result is not None
    assert (ticket.result.code, ticket.result.blocked, ticket.in_doubt) == ("tool_disabled", False, True)
    assert rig.count_calls() == 1


async def test_a_call_names_its_credential_and_costs_what_an_authenticated_call_does() -> None:
    result = await RemoteRig().call()
    assert (result.credential_used, get_fee(result)) == ("DESK_KEY", REMOTE.policy.fee)


async def test_a_call_whose_server_refuses_the_session_before_it_costs_nothing() -> None:
    rig = RemoteRig(rules=McpRules(headers={"x-api-key": API_KEY}, revisions=("2025-11-25",)))
    await rig.begin()
    rig.remote.sessions.forget(next(iter(rig.remote.sessions._sessions)))
    rig.peer.server.rules = replace(rig.rules, headers={"x-api-key": "another"})  # type: ignore[union-attr]
    result = (await rig.send()).result
    assert result is not None
    assert (result.response_status, result.blocked, get_fee(result), rig.count_calls()) == (401, True, 0, 0)


async def test_work_that_asks_without_end_is_given_up_and_never_too_long_to_be_remembered() -> None:
    rig, numbers = RemoteRig(), iter(range(10_000))

    def ask_more(_: Mapping[str, Any]) -> Mapping[str, Any]:
        keys = [f"{next(numbers)}".rjust(1_024, "k") for _ in range(16)]
        return {**ask_on({}), "inputRequests": dict.fromkeys(keys, ASKING["booking"])}

    await rig.begin()
    assert isinstance(rig.peer.server, SimulatedMcpServer)
    answers = {"tools/call": start_asking, "tasks/get": ask_more, "tasks/update": lambda _: {"resultType": "complete"}}
    rig.peer.server = ScriptedServer(rig.peer.server, answers)  # type: ignore[assignment] # answers as one does
    assert (await rig.send()).state is TicketState.WAITING
    await rig.answer({"booking": {"people": 4, "hour": "20:00"}})
    for _ in range(20):
        rig.clock.turn(timedelta(seconds=10))
        ticket = await rig.send()
        if ticket.result is not None:
            break
    assert ticket.result is not None
    assert (ticket.result.code, ticket.result.blocked) == ("questions_declined", False)


STATUSES = (301, 400, 401, 403, 404, 408, 409, 425, 429, 500, 502, 503)


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
@pytest.mark.parametrize("status", STATUSES)
async def test_a_call_is_sent_once_whatever_its_status_which_the_record_has(revision: str, status: int) -> None:
    rig = RemoteRig(rules=McpRules(headers={"x-api-key": API_KEY}, revisions=(revision,)))
    await rig.begin()
    assert isinstance(rig.peer.server, SimulatedMcpServer)
    server = StatusServer(rig.peer.server, "tools/call", status)
    rig.peer.server = server  # type: ignore[assignment] # answers as one does
    result = (await rig.send()).result
    await rig.send()
    assert result is not None
    assert (result.ok, result.blocked, result.response_status, server.count) == (False, False, status, 1)
    assert (result.code == "server_not_connected") is (status in (401, 403))

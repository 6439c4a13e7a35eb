"""Long work of an MCP server: begun once, asked about by later attempts, and never begun again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from emulator.internet.mcp import McpRules, SimulatedMcpServer
from ferryman.domain.calls.call import TicketState
from ferryman.tools.mcp.abandoning import abandon_work
from ferryman.vault.seal import UnsealError

from .rig import API_KEY, RemoteRig
from .scripted import ScriptedServer

RULES = McpRules(headers={"x-api-key": API_KEY}, polls=3, poll_ms=4000)
SOON = timedelta(seconds=5)


def build_rig(**rules: object) -> RemoteRig:
    return RemoteRig(tool="desk__count_words", arguments={"text": "one two three"}, rules=replace(RULES, **rules))


async def start(rig: RemoteRig) -> RemoteRig:
    await rig.begin()
    ticket = await rig.send()
    assert (ticket.state, ticket.goes_on, ticket.result) == (TicketState.INTENDED, True, None)
    return rig


async def test_work_is_asked_about_when_the_server_says() -> None:
    rig = await start(build_rig())
    assert rig.ticket.resumed_at == rig.clock.now() + timedelta(seconds=4)


async def test_work_that_is_done_gives_its_result_and_was_begun_once() -> None:
    rig = await start(build_rig())
    for _ in range(2):
        rig.clock.turn(SOON)
        assert (await rig.send()).goes_on
    rig.clock.turn(SOON)
    ticket = await rig.send()
    assert ticket.result is not None
    assert ("3 words" in ticket.result.content, ticket.in_doubt, ticket.sends) == (True, False, 1)
    assert (rig.count_calls(), rig.count("tasks/get")) == (1, 3)


async def test_an_instance_that_dies_while_it_asks_leaves_the_work_to_the_next() -> None:
    rig = await start(build_rig(polls=1))
    rig.clock.turn(SOON)
    await rig.tools.tickets.claim(rig.build_request(), tool="mcp_tool", now=rig.clock.now())
    rig.clock.turn(timedelta(minutes=2))
    ticket = await rig.send()
    assert ticket.result is not None
    assert ("3 words" in ticket.result.content, ticket.in_doubt, rig.count_calls()) == (True, False, 1)


async def test_an_answer_about_work_that_is_lost_is_asked_for_again() -> None:
    rig = await start(build_rig(polls=1))
    rig.clock.turn(SOON)
    rig.peer.loses = 1
    assert (await rig.send()).goes_on
    rig.clock.turn(SOON)
    ticket = await rig.send()
    assert ticket.result is not None
    assert ("words" in ticket.result.content, rig.count_calls()) == (True, 1)


async def test_a_server_that_says_nothing_of_its_work_any_more_is_given_up_and_the_call_is_in_doubt() -> None:
    rig = await start(build_rig())
    rig.peer.unreachable = True
    for _ in range(4):
        rig.clock.turn(SOON)
        assert (await rig.send()).goes_on
    rig.clock.turn(SOON)
    ticket = await rig.send()
    assert (ticket.in_doubt, rig.count_calls()) == (True, 1)


async def test_work_is_given_up_once_its_time_is_over() -> None:
    rig = await start(build_rig(polls=1_000))
    rig.clock.turn(timedelta(hours=2))
    ticket = await rig.send()
    assert ticket.result is not None
    assert (ticket.result.code, rig.count_calls()) == ("work_ended", 1)


async def test_work_of_a_tool_that_was_disabled_meanwhile_is_in_doubt() -> None:
    rig = await start(build_rig())
    rig.memory.mcp_servers["mcp_1"] = replace(rig.server, enabled=False)
    rig.clock.turn(SOON)
    ticket = await rig.send()
    assert ticket.result is not None
    assert (ticket.result.code, ticket.in_doubt) == ("tool_disabled", True)


async def test_work_at_a_server_that_moved_is_not_asked_about_there() -> None:
    rig = await start(build_rig())
    rig.memory.mcp_servers["mcp_1"] = replace(rig.server, url="https://elsewhere.example.com/mcp")
    rig.clock.turn(SOON)
    ticket = await rig.send()
    assert ticket.result is not None
    assert (ticket.result.code, rig.count("tasks/get")) == ("tool_changed", 0)


async def abandon(rig: RemoteRig, **fields: object) -> bool:
    where = {"execution": "e", "seq": 0, "task": "t", "epoch": 1, **fields}
    return await abandon_work(rig.remote, rig.ticket.continuation, **where)  # type: ignore[arg-type]


async def test_a_server_is_told_that_nobody_waits_for_its_work() -> None:
    rig = await start(build_rig())
    assert (await abandon(rig), rig.count("tasks/cancel"), rig.count_calls()) == (True, 1, 1)


async def test_a_server_that_does_not_hear_of_it_keeps_nobody() -> None:
    rig = await start(build_rig())
    rig.peer.unreachable = True
    assert not await abandon(rig)


async def test_what_was_sealed_for_another_call_cancels_nothing() -> None:
    rig = await start(build_rig())
    with pytest.raises(UnsealError):
        await abandon(rig, seq=1)
    assert rig.count("tasks/cancel") == 0


async def test_a_server_of_another_place_is_told_nothing() -> None:
    rig = await start(build_rig())
    rig.memory.mcp_servers["mcp_1"] = replace(rig.server, owner="somebody")
    assert (await abandon(rig), rig.count("tasks/cancel")) == (False, 0)


@pytest.mark.parametrize("time", [{"ttlMs": 2**53 - 1}, {"pollIntervalMs": 2**53 - 1}])
async def test_a_time_beyond_every_date_is_no_fault(time: dict[str, int]) -> None:
    rig = build_rig()
    await rig.begin()
    assert isinstance(rig.peer.server, SimulatedMcpServer)
    task = {"resultType": "task", "taskId": "work-1", "status": "working", **time}
    rig.peer.server = ScriptedServer(rig.peer.server, {"tools/call": lambda _: task})  # type: ignore[assignment]
    assert (await rig.send()).state is TicketState.INTENDED

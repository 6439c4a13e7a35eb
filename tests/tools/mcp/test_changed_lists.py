"""A server that tells amid a call that its tools have changed: the next call lists them, once, however young the listing is."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.internet.mcp import SimulatedMcpServer
from ferryman.domain.stale import StaleError

from .rig import API_KEY, RemoteRig
from .test_progress import ReportingServer

CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


class TellingRig(RemoteRig):
    """A rig whose server sends messages amid the answers to calls."""

    def __post_init__(self) -> None:
        super().__post_init__()
        assert isinstance(self.peer.server, SimulatedMcpServer)
        self.simulated = self.peer.server
        self.telling = ReportingServer(self.simulated)
        self.peer.server = self.telling  # type: ignore[assignment] # what is counted is asked of the simulated one

    async def make_calls(self, *answers: list[dict[str, Any]]) -> list[int]:
        """Make a call for each of `answers`, the messages amid its own; return how often the tools were listed by each."""
        await self.begin()
        self.memory.tickets["e"] = {seq: self.build_ticket(seq) for seq in range(len(answers))}
        listings = []
        for seq, messages in enumerate(answers):
            before = self._count_listings()
            for message in (*messages, None):
                self.telling.messages.put_nowait(message)
            await self.send(seq)
            listings.append(self._count_listings() - before)
        return listings

    def _count_listings(self) -> int:
        counts: Any = self.simulated.report()["counts"]
        return int(counts.get("tools/list", 0))


async def test_the_next_call_lists_the_tools_although_they_were_listed_just_before() -> None:
    assert await TellingRig().make_calls([], [CHANGED], [], []) == [0, 0, 1, 0]


async def test_a_server_that_tells_it_a_hundred_times_in_each_call_has_one_listing_made_by_each() -> None:
    assert await TellingRig().make_calls([CHANGED] * 100, [CHANGED] * 100, [CHANGED] * 100) == [0, 1, 1]


async def test_the_store_knows_it_so_that_another_process_lists_too() -> None:
    rig = TellingRig()
    await rig.make_calls([CHANGED])
    assert rig.server.verified_at is None


async def test_what_somebody_else_stores_meanwhile_stays() -> None:
    rig = TellingRig()
    servers, raised = rig.remote.servers, []
    update = servers.update

    async def change_first(*arguments: Any, **named: Any) -> Any:
        if not raised and rig.memory.tickets.get("e"):
            raised.append(True)
            await update(rig.server, ["enabled"], since=rig.server.generation)
            raise StaleError("it was changed")
        return await update(*arguments, **named)

    servers.update = change_first  # type: ignore[method-assign]
    await rig.make_calls([CHANGED])
    assert (bool(raised), rig.server.verified_at) == (True, None)


@pytest.mark.parametrize("method", ["notifications/prompts/list_changed", "notifications/tools/list_changed/"])
async def test_other_notifications_have_nothing_listed(method: str) -> None:
    assert await TellingRig().make_calls([{**CHANGED, "method": method}], []) == [0, 0]


async def test_a_difference_that_the_listing_shows_holds_the_tool() -> None:
    rig = TellingRig()
    await rig.make_calls([CHANGED])
    rig.simulated.rules = type(rig.rules)(headers={"x-api-key": API_KEY}, changed={"echo": {"description": "Other."}})
    rig.memory.tickets["e"] = {1: rig.build_ticket(1)}
    ended = await rig.send(1)
    assert ended.result is not None
    assert (ended.result.blocked, rig.telling.messages.empty()) == (True, True)

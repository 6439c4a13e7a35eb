"""Counting: pieces of keys are added up over the calls of an execution before they leave; none is lost or counted twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime

import pytest

from ferryman.domain.calls.call import TicketState
from ferryman.domain.credentials.coverage import Coverage
from ferryman.domain.stale import StaleError
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.ports.errors import UnavailableError
from ferryman.ports.tickets import ClaimedCall

from .harness import ToolHarness


class Pieces:
    """Pieces that a test names: bits of one secret of sixteen characters."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def add_to(self, earlier: Coverage) -> tuple[str | None, Coverage]:
        after = earlier.get("digest") | self.bits
        return ("KEY" if after.bit_count() > 8 else None), Coverage({"digest": after}) if after else earlier


class UnavailableVault(MemoryTickets):
    """Tickets of a store that answers everything but an addition."""

    async def cover(self, claimed_call: ClaimedCall, before: bytes, after: bytes, *, now: datetime) -> bytes:
        raise UnavailableError("Firestore did not answer")


class Moved(MemoryTickets):
    """Tickets of an execution that another holder has taken over."""

    async def cover(self, claimed_call: ClaimedCall, before: bytes, after: bytes, *, now: datetime) -> bytes:
        raise StaleError("the lease has moved on")


@pytest.fixture
def harness() -> ToolHarness:
    harness = ToolHarness()
    harness.memory.tickets["e"] |= {seq: replace(harness.ticket, seq=seq) for seq in range(1, 4)}
    return harness


async def read_coverage(harness: ToolHarness) -> int:
    return (await harness.open_coverage(harness.memory.executions["e"].coverage, execution="e")).get("digest")


async def test_what_a_call_sends_is_kept_before_it_is_sent(harness: ToolHarness) -> None:
    seen = []

    async def look(_: object) -> None:
        seen.append(await read_coverage(harness))

    harness.pieces, harness.on_send = {0: Pieces(0b111)}, look
    await harness.execute()
    assert seen == [0b111]


async def test_the_call_that_makes_it_too_much_is_refused_and_keeps_nothing(harness: ToolHarness) -> None:
    harness.pieces = {0: Pieces(0xFF), 1: Pieces(0xFF00)}
    await harness.execute()
    result = await harness.execute(seq=1)
    assert (result.block_reason, len(harness.sent), await read_coverage(harness)) == ("credential_leak", 1, 0xFF)


async def test_the_same_pieces_again_are_not_stored_again(harness: ToolHarness) -> None:
    harness.pieces = {0: Pieces(0xFF), 1: Pieces(0xFF)}
    await harness.execute()
    stored = harness.memory.executions["e"].coverage
    assert (await harness.execute(seq=1)).content == "done"
    assert harness.memory.executions["e"].coverage == stored


async def test_a_call_without_a_piece_stores_nothing(harness: ToolHarness) -> None:
    await harness.execute()
    assert harness.memory.executions["e"].coverage == b""


async def test_of_calls_at_once_no_addition_is_lost(harness: ToolHarness) -> None:
    harness.pieces = {seq: Pieces(0b11 << 2 * seq) for seq in range(4)}
    await asyncio.gather(*(harness.execute(seq=seq) for seq in range(4)))
    assert await read_coverage(harness) == 0xFF


async def test_of_calls_at_once_that_are_too_much_together_not_all_are_sent(harness: ToolHarness) -> None:
    harness.pieces = {seq: Pieces(0b111 << 3 * seq) for seq in range(4)}
    results = await asyncio.gather(*(harness.execute(seq=seq) for seq in range(4)))
    assert [result.block_reason for result in results].count("credential_leak") == 2
    assert len(harness.sent) == 2


@pytest.mark.parametrize("tickets", [UnavailableVault, Moved])
async def test_where_it_cannot_be_kept_the_call_is_given_back_and_not_sent(
    harness: ToolHarness, tickets: type[MemoryTickets]
) -> None:
    harness.tickets, harness.pieces = tickets, {0: Pieces(0b1)}
    with pytest.raises(UnavailableError):
        await harness.execute()
    assert (harness.ticket.state, harness.sent) == (TicketState.INTENDED, [])

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

from .bank import Bank


class Found:
    """Pieces that a test names: bits of one secret of sixteen characters."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def added_to(self, earlier: Coverage) -> tuple[str | None, Coverage]:
        after = earlier.get("digest") | self.bits
        return ("KEY" if after.bit_count() > 8 else None), Coverage({"digest": after}) if after else earlier


class Away(MemoryTickets):
    """Tickets of a store that answers everything but an addition."""

    async def cover(self, claimed_call: ClaimedCall, before: bytes, after: bytes, *, now: datetime) -> bytes:
        raise UnavailableError("Firestore did not answer")


class Moved(MemoryTickets):
    """Tickets of an execution that another holder has taken over."""

    async def cover(self, claimed_call: ClaimedCall, before: bytes, after: bytes, *, now: datetime) -> bytes:
        raise StaleError("the lease has moved on")


@pytest.fixture
def bank() -> Bank:
    bank = Bank()
    bank.memory.tickets["e"] |= {seq: replace(bank.ticket, seq=seq) for seq in range(1, 4)}
    return bank


async def kept(bank: Bank) -> int:
    return (await bank.open_coverage(bank.memory.executions["e"].coverage, execution="e")).get("digest")


async def test_what_a_call_sends_is_kept_before_it_is_sent(bank: Bank) -> None:
    seen = []

    async def look(_: object) -> None:
        seen.append(await kept(bank))

    bank.pieces, bank.on_send = {0: Found(0b111)}, look
    await bank.carry()
    assert seen == [0b111]


async def test_the_call_that_makes_it_too_much_is_refused_and_keeps_nothing(bank: Bank) -> None:
    bank.pieces = {0: Found(0xFF), 1: Found(0xFF00)}
    await bank.carry()
    result = await bank.carry(seq=1)
    assert (result.block_reason, len(bank.sent), await kept(bank)) == ("credential_leak", 1, 0xFF)


async def test_the_same_pieces_again_are_not_stored_again(bank: Bank) -> None:
    bank.pieces = {0: Found(0xFF), 1: Found(0xFF)}
    await bank.carry()
    stored = bank.memory.executions["e"].coverage
    assert (await bank.carry(seq=1)).content == "done"
    assert bank.memory.executions["e"].coverage == stored


async def test_a_call_without_a_piece_stores_nothing(bank: Bank) -> None:
    await bank.carry()
    assert bank.memory.executions["e"].coverage == b""


async def test_of_calls_at_once_no_addition_is_lost(bank: Bank) -> None:
    bank.pieces = {seq: Found(0b11 << 2 * seq) for seq in range(4)}
    await asyncio.gather(*(bank.carry(seq=seq) for seq in range(4)))
    assert await kept(bank) == 0xFF


async def test_of_calls_at_once_that_are_too_much_together_not_all_are_sent(bank: Bank) -> None:
    bank.pieces = {seq: Found(0b111 << 3 * seq) for seq in range(4)}
    results = await asyncio.gather(*(bank.carry(seq=seq) for seq in range(4)))
    assert [result.block_reason for result in results].count("credential_leak") == 2
    assert len(bank.sent) == 2


@pytest.mark.parametrize("tickets", [Away, Moved])
async def test_where_it_cannot_be_kept_the_call_is_given_back_and_not_sent(bank: Bank, tickets: type[MemoryTickets]) -> None:
    bank.tickets, bank.pieces = tickets, {0: Found(0b1)}
    with pytest.raises(UnavailableError):
        await bank.carry()
    assert (bank.ticket.state, bank.sent) == (TicketState.INTENDED, [])

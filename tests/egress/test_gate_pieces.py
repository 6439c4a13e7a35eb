"""Pieces at the gate: they are counted before a name is looked up, and a call that cannot be counted is not sent."""

from __future__ import annotations

import pytest

from ferryman.egress.leaks import SecretPieces
from ferryman.ports.errors import UnavailableError
from ferryman.ports.gate import CallPolicy
from ferryman.vault.seal import UnsealError
from tests.egress.conftest import GateHarness
from tests.egress.plants import VALUES, credential, outbound, policy

VALUE = VALUES["prefixed"]
CREDENTIALS = {"NEWS_KEY": credential(VALUE)}
PIECES = [VALUE[8:19], VALUE[19:30]]


async def test_pieces_of_a_key_are_counted_before_a_name_is_looked_up(harness: GateHarness) -> None:
    seen: list[SecretPieces] = []

    async def count(pieces: SecretPieces) -> str | None:
        assert not harness.names.lookups
        seen.append(pieces)
        return "NEWS_KEY"

    result = await harness.gate().send(
        outbound(body={"a": PIECES[0]}), CallPolicy(execution=policy(), credentials=CREDENTIALS, count=count)
    )
    assert (result.block_reason, result.blocked, len(seen)) == ("credential_leak", True, 1)
    assert not harness.names.lookups


async def test_a_request_without_a_piece_counts_nothing(harness: GateHarness) -> None:
    async def count(pieces: SecretPieces) -> str | None:
        raise AssertionError

    url = "https://private.wild.test/"
    keys = {"NEWS_KEY": credential(VALUE, hosts=("*.wild.test",))}
    result = await harness.gate().send(outbound(url=url), CallPolicy(execution=policy(), credentials=keys, count=count))
    assert result.block_reason == "dns_validation_failed"


async def test_what_cannot_be_counted_is_not_sent_and_no_result_either(harness: GateHarness) -> None:
    async def count(_: SecretPieces) -> str | None:
        raise UnavailableError("the store is away")

    for ask in (harness.gate().send, harness.gate().fetch):
        with pytest.raises(UnavailableError):
            await ask(outbound(body={"a": PIECES[0]}), CallPolicy(execution=policy(), credentials=CREDENTIALS, count=count))
    assert not harness.names.lookups


async def test_a_sum_that_does_not_open_keeps_the_call_in(harness: GateHarness) -> None:
    async def count(_: SecretPieces) -> str | None:
        raise UnsealError("the ciphertext does not open")

    result = await harness.gate().send(
        outbound(body={"a": PIECES[0]}), CallPolicy(execution=policy(), credentials=CREDENTIALS, count=count)
    )
    assert (result.blocked, result.block_reason) == (True, "internal_fault")
    assert not harness.dialer.dialled

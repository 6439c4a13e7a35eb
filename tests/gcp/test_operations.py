"""What a call and a turn cost Firestore, counted by the server."""

from __future__ import annotations

from bench.operations import measure


async def test_a_call_and_a_turn_cost_what_they_should_and_no_more_as_the_run_grows() -> None:
    found = await measure(12)
    call = found.call
    # one of the written documents is the ticket, in the turn's own commit
    assert (call["documents written"], call["batch reads"], call["queries"], call["transactions"]) == (3, 1, 1, 1)
    assert found.late_turn == found.early_turn
    assert found.early_turn["transactions"] == 2

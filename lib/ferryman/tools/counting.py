"""Leak budget: add up the pieces of secrets that the calls of one execution send, and store the sum before a call is sent."""

from __future__ import annotations

from ferryman.domain.stale import StaleError
from ferryman.ports.clock import Clock
from ferryman.ports.errors import UnavailableError
from ferryman.ports.gate import PieceTally
from ferryman.ports.tickets import ClaimedCall, Tickets
from ferryman.ports.vault import ToolVault
from ferryman.tools.prepared_call import NotSentError

TRIES_MAX = 8
"""How often an addition is tried while other calls of the execution add to the same coverage."""


async def count_pieces(
    tickets: Tickets, vault: ToolVault, clock: Clock, claimed_call: ClaimedCall, pieces: PieceTally
) -> str | None:
    """Add `pieces` to those that the execution has sent; return the credential of which that is too much (nothing is stored).

    Pieces that were sent before are not stored again, so that a call that is delivered twice counts once. Raise `NotSentError`
    where new pieces could not be stored, or another delivery has taken the execution over: the call must not be sent then.
    """
    execution, stored = claimed_call.call_request.execution, claimed_call.coverage
    try:
        for _ in range(TRIES_MAX):
            before = await vault.open_coverage(stored, execution=execution)
            name, after = pieces.add_to(before)
            if name is not None or after == before:
                return name
            sealed = await vault.seal_coverage(after, execution=execution, like=claimed_call.ticket.arguments)
            current = await tickets.cover(claimed_call, stored, sealed, now=clock.now())
            if current == sealed:
                return None
            stored = current
    except (UnavailableError, StaleError) as fault:
        raise NotSentError(str(fault)) from fault
    raise NotSentError("what the execution has sent of its credentials changes all the time")

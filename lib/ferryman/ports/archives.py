"""The port of what is imported from archives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ferryman.domain.credits.ledger import LedgerEntry


class Archives(Protocol):
    """Imported history. `list_entries` returns the movements of credits that an imported execution had where it ran.

    They are no entries of the ledger here: they move nobody's credits, and no statement counts them.
    """

    async def list_entries(self, execution: str) -> Sequence[LedgerEntry]: ...

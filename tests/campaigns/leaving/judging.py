"""What an answer that was stopped has left: a record that replays to the byte, in which what was spent is charged once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from ferryman.domain.credits.ledger import name_account, sum_accounts
from ferryman.domain.expense import Expense
from ferryman.replay import run_replay
from ferryman.serving import bundle

OWNERS, NOTHING = "owner:", Decimal(0)


async def find_faults(document: Mapping[str, Any]) -> list[str]:
    """Return what a replay of a record does otherwise, and what of its credits is charged more than once, or not at all."""
    read = bundle.parse_record(document)
    differences = [f"replayed otherwise: {line}" for line in bundle.find_differences(read, await run_replay(read.record))]
    return [*differences, *find_wrong_charges(read)]


def find_wrong_charges(read: bundle.Bundle) -> Iterator[str]:
    """Yield where the ledger of a record has other credits than its execution and its turns."""
    record = read.record
    used, accounts = record.execution.credits_used, sum_accounts(record.entries)
    paid = -sum((amount for name, amount in accounts.items() if name.startswith(OWNERS)), NOTHING)
    if paid != used:
        yield f"charged: the owner has paid {paid} credits of {used}"
    if reserved := accounts.get(name_account(record.execution), NOTHING):
        yield f"charged: {reserved} credits are still reserved"
    turns, tokens = sum((step.credits for step in record.steps), NOTHING), accounts.get(Expense.LLM_TOKENS, NOTHING)
    if tokens != turns:
        yield f"charged: {tokens} credits for tokens, and the turns cost {turns}"

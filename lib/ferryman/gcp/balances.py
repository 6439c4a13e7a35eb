"""Balances in Firestore: the owner's, and that of the execution's conversation where it has one, in one transaction."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ferryman.domain.credits.balance import CreditBalance, name_owner_balance
from ferryman.domain.credits.conversation import (
    LIFETIME,
    ConversationBalance,
    join_conversations,
    name_conversation_balance,
    split_conversation,
)
from ferryman.domain.executions.execution import Execution
from ferryman.gcp import documents
from ferryman.gcp.places import Places
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import Transaction, read_together


async def read_balance(client: Any, transaction: Transaction, execution: Execution, *, now: datetime) -> CreditBalance:
    """Return the owner's balance in the month of `now`, with the part of the execution's conversation where it has one."""
    places, name = Places(client), name_owner_balance(execution.owner)
    owner_at = places.locate_balance(name)
    if not execution.conversation:
        snapshot = await owner_at.get(transaction=transaction)
        return (documents.read_or_none(CreditBalance, snapshot) or CreditBalance(id=name)).at(now)
    conversation_at = places.locate_conversation_balance(name_conversation_balance(execution))
    snapshots = await read_together(client, [owner_at, conversation_at], transaction)
    balance = (documents.read_or_none(CreditBalance, snapshots[owner_at.path]) or CreditBalance(id=name)).at(now)
    stored = documents.read_or_none(ConversationBalance, snapshots[conversation_at.path])
    return join_conversations(balance, [] if stored is None else [stored])


def store_balance(
    transaction: Transaction, places: Places, balance: CreditBalance, execution: Execution, *, now: datetime
) -> None:
    """Store what `read_balance` returned, as it was changed, in the same transaction."""
    rest, conversation = split_conversation(balance, execution, now=now)
    transaction.set(places.locate_balance(rest.id), documents.write(rest))
    if not execution.conversation:
        return
    reference = places.locate_conversation_balance(name_conversation_balance(execution))
    if conversation is None:
        transaction.delete(reference)
    else:
        transaction.set(reference, {**documents.write(conversation), EXPIRE_AT: now + LIFETIME})

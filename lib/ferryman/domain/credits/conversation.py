"""Balances of conversations: what each has used in a month and what is reserved for it, in a document of its own.

Their number has no bound, so the stored balance of their owner has no part of them. The transaction that reads and writes the
owner's balance for an execution with a conversation reads and writes that one document more: in between, it is a part like any
other, so that all caps are judged in one place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from ferryman.domain.copies import replace
from ferryman.domain.credits.balance import CreditBalance, CreditPart, is_conversation
from ferryman.domain.executions.execution import Execution
from ferryman.domain.owners.cap import CapKind, name_conversation_part, name_part

LIFETIME = timedelta(days=62)
"""How long the document is kept after its last change: longer than its month, and than any execution takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationBalance:
    """`credits_used` are those of `month`, as in the balance of the owner; `conversation` is the id that its starter chose."""

    id: str
    owner: str
    workspace: str
    agent: str
    conversation: str
    month: str
    credits_used: Decimal
    credits_reserved: Decimal
    updated_at: datetime

    @property
    def part_id(self) -> str:
        """The id under which the conversation is counted and capped."""
        return name_conversation_part(self.agent, self.conversation)

    def is_counted(self, month: str) -> bool:
        """Tell whether anything is used in `month` or reserved."""
        return bool(self.credits_reserved or (self.month == month and self.credits_used))


def name_conversation_balance(execution: Execution) -> str:
    """Return the id of the balance of the conversation of `execution`: no other agent's conversation has it."""
    return f"{execution.agent}.{execution.conversation}"  # no id has a full stop


def join_conversations(balance: CreditBalance, stored: Iterable[ConversationBalance]) -> CreditBalance:
    """Return the owner's balance with a part for each of the `stored` conversations, in the month of the balance."""
    parts = {name_part(CapKind.CONVERSATION, item.part_id): _count(item, balance.month) for item in stored}
    return replace(balance, parts={**balance.parts, **parts}) if parts else balance


def split_conversation(
    balance: CreditBalance, execution: Execution, *, now: datetime
) -> tuple[CreditBalance, ConversationBalance | None]:
    """Return the owner's balance as it is stored, and that of the conversation of `execution`.

    None: it has none, or nothing is used in it or reserved for it, and it is not stored.
    """
    if not execution.conversation:
        return balance, None
    rest = {name: part for name, part in balance.parts.items() if not is_conversation(name)}
    name = name_part(CapKind.CONVERSATION, name_conversation_part(execution.agent, execution.conversation))
    part = balance.parts.get(name, CreditPart())
    stored = ConversationBalance(
        id=name_conversation_balance(execution),
        owner=execution.owner,
        workspace=execution.workspace,
        agent=execution.agent,
        conversation=execution.conversation,
        month=balance.month,
        credits_used=part.credits_used,
        credits_reserved=part.credits_reserved,
        updated_at=now,
    )
    return replace(balance, parts=rest), stored if part.credits_used or part.credits_reserved else None


def _count(stored: ConversationBalance, month: str) -> CreditPart:
    used = stored.credits_used if stored.month == month else Decimal(0)
    return CreditPart(credits_used=used, credits_reserved=stored.credits_reserved)

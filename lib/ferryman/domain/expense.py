"""Expenses: the accounts of the ledger that credits are spent in."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum


class Expense(StrEnum):
    """An account of what was spent, in the order in which a statement shows them."""

    LLM_TOKENS = "llm_tokens"
    """The tokens of model calls (S4-101)."""
    API_CALL_FEE = "api_call_fee"
    """The fees of calls with a credential (S0-111)."""
    EMBEDDING = "embedding"
    """The fees of calls for which vectors of texts are computed."""
    STORAGE_UNMETERED = "storage_unmetered"
    """Calls that read or write stored files: they cost nothing, and their bytes are entered (S4-104)."""


CALL_EXPENSES = (Expense.API_CALL_FEE, Expense.EMBEDDING, Expense.STORAGE_UNMETERED)
"""Those that calls of tools are entered in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallExpense:
    """What a call is entered in the ledger with: its fee in credits, and the bytes of one that is not metered."""

    expense: Expense
    credits: Decimal
    bytes: int = 0

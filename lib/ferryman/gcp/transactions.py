"""Firestore transactions: the one place that begins, repeats and commits them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncTransaction

Result = TypeVar("Result")


async def transact(transaction: AsyncTransaction, work: Callable[[AsyncTransaction], Awaitable[Result]]) -> Result:
    """Return what `work` returns, once all that it wrote is committed; nothing is written where it raises.

    The client calls `work` again, at most five times in all, where another transaction was in its way: it must read before it
    writes, and change nothing besides. Raise what `work` raises, or the client's errors, which `translate_errors` translates.
    """
    from google.cloud.firestore import async_transactional

    result: Result = await async_transactional(work)(transaction)
    return result

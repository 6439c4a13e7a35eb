"""Waiting for people in Firestore: an execution gives lease, slot and reservation back, and takes them again."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from ferryman.domain.credits.balance import reserve_credits, settle_credits
from ferryman.domain.credits.shortage import InsufficientCreditsError
from ferryman.domain.executions import lease as rules
from ferryman.domain.executions import waiting
from ferryman.domain.executions.execution import Execution
from ferryman.gcp import occupancy
from ferryman.gcp.alerts import store_refusal
from ferryman.gcp.balances import read_balance, store_balance
from ferryman.gcp.execution_documents import IS_WAITING
from ferryman.gcp.execution_store import FirestoreExecutionStore
from ferryman.gcp.lasting import set_expiry_below
from ferryman.gcp.store import Transaction, in_transaction


class FirestoreParking(FirestoreExecutionStore):
    """What of `ports.Executions` parks an execution, and resumes it."""

    async def park(self, execution: Execution, *, waiting_for: str, keep: Decimal, now: datetime) -> int:
        # before: a delivery that dies in between parks once more
        await set_expiry_below(self._client, execution, self._retention.expire_waiting(execution, now))
        return await self._park(execution, waiting_for, keep, now)

    @in_transaction
    async def _park(
        self, transaction: Transaction, execution: Execution, waiting_for: str, keep: Decimal, now: datetime
    ) -> int:
        current = await self._read(transaction, execution.id)
        parked = waiting.park_execution(current, execution, waiting_for=waiting_for, keep=keep, now=now)
        returned = current.credits_reserved - parked.credits_reserved
        if returned:
            balance = await read_balance(self._client, transaction, current, now=now)
            settled = settle_credits(balance, current, reserved=returned, used=Decimal(0))
            store_balance(transaction, self._places, settled, current, now=now)
        occupancy.free_slot(transaction, self._places, execution, suspended=now)
        self._update(transaction, parked, waiting.PARK_FIELDS, {IS_WAITING: True})
        return parked.slice

    async def resume(self, execution: Execution, *, reserve: Decimal, now: datetime) -> Execution:
        resumed = await self._resume(execution, reserve, now)
        if isinstance(resumed, InsufficientCreditsError):
            raise resumed
        return resumed

    @in_transaction
    async def _resume(
        self, transaction: Transaction, execution: Execution, reserve: Decimal, now: datetime
    ) -> Execution | InsufficientCreditsError:
        """Do as `resume` does, but return the error: the alert of a refusal is committed."""
        current = await self._read(transaction, execution.id)
        rules.check_fence(current, execution, now)
        resumed = waiting.resume_execution(current, execution, reserve=reserve, now=now)
        added = resumed.credits_reserved - current.credits_reserved
        if added:
            before = await read_balance(self._client, transaction, current, now=now)
            try:
                balance = reserve_credits(before, current, added)
            except InsufficientCreditsError as error:
                return await store_refusal(self._client, transaction, error, current, before, now=now)
            store_balance(transaction, self._places, balance, current, now=now)
        self._update(transaction, resumed, rules.WAITING_FIELDS, {IS_WAITING: False})
        return resumed

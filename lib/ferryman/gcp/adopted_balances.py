"""Adoption of an owner's balances: one commit moves what each task has used from its own balance into the owner's parts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ferryman.domain.credits.adoption import adopt_balance
from ferryman.domain.credits.balance import CreditBalance, name_owner_balance
from ferryman.domain.executions.execution import Execution
from ferryman.gcp import documents, occupancy
from ferryman.gcp.execution_documents import SUMMARY_FIELDS, read_execution
from ferryman.gcp.places import Places
from ferryman.gcp.store import Snapshot, Transaction, filter_by, get_readable, read_together

if TYPE_CHECKING:
    from google.cloud.firestore import AsyncClient

FIELDS = (*SUMMARY_FIELDS, "policy")
"""The fields of an execution that say for which parts how much is reserved."""


async def adopt_balances(client: AsyncClient, transaction: Transaction, owner: str, now: datetime) -> int:
    """Move what `owner` and their tasks have used into the parts of the owner's balance. Return 1 where that changed it.

    The balances of tasks are deleted in the same commit: what is moved once is not there to be moved again.
    """
    places = Places(client)
    balance_at, occupancy_at = places.locate_balance(name_owner_balance(owner)), places.locate_occupancy(owner)
    query = filter_by(client.collection("tasks"), ("owner", "==", owner)).select(["max_credits_month"])
    tasks = [snapshot async for snapshot in query.stream(transaction=transaction)]
    balances_at = {task.id: places.locate_balance(f"task:{task.id}") for task in tasks}
    snapshots = await read_together(client, [balance_at, occupancy_at, *balances_at.values()], transaction)
    stored = documents.read_or_none(CreditBalance, snapshots[balance_at.path])
    if stored is None:
        return 0  # nothing was ever reserved
    balance = stored.at(now)
    of_tasks = {name: documents.read_or_none(CreditBalance, snapshots[at.path]) for name, at in balances_at.items()}
    after = adopt_balance(
        balance,
        owner,
        tasks={name: of.credits_used for name, of in of_tasks.items() if of is not None and of.month == balance.month},
        capped=[task.id for task in tasks if (task.to_dict() or {}).get("max_credits_month") is not None],
        running=await _read_running(places, transaction, snapshots[occupancy_at.path]),
    )
    if after != stored:
        transaction.set(balance_at, documents.write(after))
    for name, of in of_tasks.items():
        if of is not None:
            transaction.delete(balances_at[name])
    return int(after != stored)


async def _read_running(places: Places, transaction: Transaction, snapshot: Snapshot) -> Sequence[Execution]:
    """Return the executions that have begun and not ended: those for which credits are reserved."""
    occupied = occupancy.read_occupancy(snapshot)
    references = [places.locate_execution(name) for name in (*occupied.running, *occupied.suspended)]
    snapshots = [await get_readable(reference, transaction, names=FIELDS) for reference in references]
    executions = [read_execution(item) for item in snapshots if item is not None]
    return [execution for execution in executions if execution is not None and not execution.status.terminal]

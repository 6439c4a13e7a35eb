"""Alerts in Firestore: a document each, created by the commits of executions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ferryman.domain.credits.alert import LIFETIME, Alert, build_refusal_alert, select_pending
from ferryman.domain.credits.balance import CreditBalance
from ferryman.domain.credits.shortage import InsufficientCreditsError
from ferryman.domain.delivery import AlertState
from ferryman.domain.executions.execution import Execution
from ferryman.domain.page import Page, Position
from ferryman.gcp import documents
from ferryman.gcp.pages import read_page
from ferryman.gcp.places import Places
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import FirestoreStore, Transaction, filter_by, in_transaction, read_together

OUTCOME = ("state", "attempts", "status", "reason", "settled_at")
"""What an attempt changes."""


class FirestoreAlerts(FirestoreStore):
    """`ports.Alerts`."""

    async def get(self, alert: str) -> Alert | None:
        return documents.read_or_none(Alert, await self._places.locate_alert(alert).get())

    async def list(self, owner: str, workspace: str, *, after: Position | None = None, most: int = 50) -> Page[Alert]:
        query = filter_by(self._client.collection("alerts"), ("owner", "==", owner), ("workspace", "==", workspace))
        return await read_page(
            query,
            lambda snapshot: documents.read_or_none(Alert, snapshot),
            names=documents.name_fields(Alert),
            after=after,
            most=most,
            newest_first=True,
        )

    @in_transaction
    async def record(self, transaction: Transaction, alert: Alert) -> Alert:
        reference = self._places.locate_alert(alert.id)
        stored = documents.read(Alert, (await reference.get(transaction=transaction)).to_dict())
        if stored.state is not AlertState.PENDING or stored.attempts >= alert.attempts:
            return stored  # another delivery of this attempt was sooner
        transaction.update(reference, documents.write_fields(alert, *OUTCOME))
        return alert

    async def overdue(self, *, before: datetime, most: int) -> Sequence[str]:
        conditions = ("state", "==", AlertState.PENDING.value), ("created_at", "<", before)
        query = filter_by(self._client.collection("alerts"), *conditions).order_by("created_at").limit(most)
        return [snapshot.id async for snapshot in query.select(["created_at"]).stream()]


async def read_new(client: Any, transaction: Transaction, alerts: Sequence[Alert]) -> tuple[list[Alert], list[Alert]]:
    """Return those of `alerts` that are not stored yet, and those that are, as they are stored; for a transaction to create."""
    if not alerts:
        return [], []
    places = Places(client)
    snapshots = await read_together(client, [places.locate_alert(alert.id) for alert in alerts], transaction)
    stored = {snapshot.id: documents.read_or_none(Alert, snapshot) for snapshot in snapshots.values()}
    return [alert for alert in alerts if stored[alert.id] is None], [alert for alert in stored.values() if alert is not None]


def create_alerts(transaction: Transaction, places: Places, alerts: Sequence[Alert]) -> None:
    """Create alerts in a transaction."""
    for alert in alerts:
        expiry = {EXPIRE_AT: alert.created_at + LIFETIME}
        transaction.create(places.locate_alert(alert.id), {**documents.write(alert), **expiry})


async def store_refusal(
    client: Any,
    transaction: Transaction,
    error: InsufficientCreditsError,
    execution: Execution,
    balance: CreditBalance,
    *,
    now: datetime,
) -> InsufficientCreditsError:
    """Create the alert of a cap that refuses `execution`, unless there is one; return the error with the one to be sent."""
    alert = build_refusal_alert(error.shortage, execution, balance, now=now)
    new, known = await read_new(client, transaction, [alert])
    create_alerts(transaction, Places(client), new)
    return InsufficientCreditsError(error.shortage, alert=next(iter(select_pending([*new, *known])), ""))

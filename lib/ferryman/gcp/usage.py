"""Usage in Firestore: a document for each event until it is rolled up, and two for each week of a workspace."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from ferryman.domain.metering.event import UsageEvent
from ferryman.domain.metering.rollup import choose_weeks, is_too_soon
from ferryman.domain.metering.week import UsageWeek, WeekPart, name_week
from ferryman.gcp import documents
from ferryman.gcp.retention import EXPIRE_AT
from ferryman.gcp.store import FirestoreStore, Transaction, filter_by, in_transaction, read_together
from ferryman.ports.metering import RollUp


class FirestoreUsage(FirestoreStore):
    """`ports.UsageStore`."""

    @in_transaction
    async def roll_up(self, transaction: Transaction, workspace: str, *, most: int, now: datetime) -> RollUp:
        stored = self._query(workspace).limit(most).stream(transaction=transaction)
        events = {snapshot.reference: documents.read(UsageEvent, snapshot.to_dict()) async for snapshot in stored}
        chosen = choose_weeks(events.values())
        if not chosen:
            return RollUp(events=0, more=False)
        places = {
            (monday, part): self._places.locate_usage_week(name_week(workspace, monday, part))
            for monday in chosen
            for part in WeekPart
        }
        snapshots = await read_together(self._client, list(places.values()), transaction)
        weeks = {
            (monday, part): documents.read_or_none(UsageWeek, snapshots[place.path]) or UsageWeek.begin(workspace, monday, part)
            for (monday, part), place in places.items()
        }
        if is_too_soon(weeks.values(), now=now):
            return RollUp(events=0, more=True)
        for (monday, part), week in weeks.items():
            after = week.add(chosen[monday], now=now)
            transaction.set(places[monday, part], {**documents.write(after), EXPIRE_AT: after.expires_at})
        rolled_up = {event.id for of_week in chosen.values() for event in of_week}
        for reference in events:
            if reference.id in rolled_up:
                transaction.delete(reference)
        return RollUp(events=len(rolled_up), more=len(events) == most or len(rolled_up) < len(events))

    async def list_weeks(self, workspace: str, *, mondays: Collection[str], part: WeekPart) -> Sequence[UsageWeek]:
        places = [self._places.locate_usage_week(name_week(workspace, monday, part)) for monday in mondays]
        snapshots = await read_together(self._client, places)
        weeks = [documents.read_or_none(UsageWeek, snapshots[place.path]) for place in places]
        return [week for week in weeks if week is not None]

    async def list_late(self, *, before: datetime, most: int) -> Sequence[str]:
        query = filter_by(self._client.collection("usage_events"), ("at", "<", before)).order_by("at").limit(most)
        workspaces = [snapshot.get("workspace") async for snapshot in query.select(["workspace"]).stream()]
        return list(dict.fromkeys(workspaces))

    async def list_events(self, workspace: str, *, most: int) -> Sequence[UsageEvent]:
        return await documents.read_all(UsageEvent, self._query(workspace).limit(most))

    def _query(self, workspace: str) -> Any:
        return filter_by(self._client.collection("usage_events"), ("workspace", "==", workspace))

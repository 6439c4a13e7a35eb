"""An interest: which changes a trigger wants to hear of."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from emulator.triggers import event as events
from emulator.triggers.event import WatchedChange
from emulator.triggers.pattern import compile_pattern

KINDS = {events.PREFIX + kind for kind in ("created", "updated", "deleted", "written")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Interest:
    """The type of event and the paths of documents that a trigger is for."""

    event: str
    documents: re.Pattern[str]

    def fits(self, change: WatchedChange) -> bool:
        """Return whether the change is an event for this trigger."""
        if not self.documents.fullmatch(events.path(change)):
            return False
        # whether a document was altered is found by comparing its fields, which takes longest: only where that matters
        if self.event == events.CREATED:
            return change.before is None and change.after is not None
        return self.event in events.list_kinds(change)


def read_interest(event: str, document: str) -> Interest:
    """Return the interest of a trigger. Raise ValueError for an unknown type of event, or a bad pattern."""
    if event not in KINDS:
        raise ValueError(f"{event!r} is not one of {', '.join(sorted(KINDS))}")
    return Interest(event=event, documents=compile_pattern(document))


def find_missed(changes: Sequence[WatchedChange], heard: tuple[datetime, str] | None) -> Sequence[WatchedChange]:
    """Return the changes of the last commit that came after the last known one, given by its time and document."""
    if not changes or heard is None:
        return changes
    at, name = heard
    if changes[0].at != at:
        return changes if changes[0].at > at else ()
    names = [change.name for change in changes]
    return changes[names.index(name) + 1 :] if name in names else changes

"""Audit entries: who changed what in a workspace, and when. They hold ids, and nothing of what was changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

TARGETS_MAX = 5
TARGET_CHARACTERS_MAX = 200
"""Of an entry and of each of its targets: what is longer is cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One change, as stored.

    `person` is "" for the owner, `key` the id of the API key ("" for the owner's own one), `action` the operation of the API,
    as its description names it. The entry is stored before the change is made, and gets its `targets`, the ids and names of
    what was changed, after it: one that is not `done` says that an instance died between the two. A change that was refused
    leaves none.
    """

    id: str
    owner: str
    workspace: str
    person: str = ""
    key: str = ""
    action: str
    targets: tuple[str, ...] = ()
    done: bool = False
    created_at: datetime

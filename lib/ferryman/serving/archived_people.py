"""Archived people: an archive's lines about members, changes, alerts, users and what was used, read without trust."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any

from pydantic import AwareDatetime, Field, ValidationError

from ferryman.domain.archives.lines import ArchiveError
from ferryman.domain.delivery import AlertState
from ferryman.domain.metering.latency import BOUNDS_MS
from ferryman.domain.metering.week import RowKind
from ferryman.domain.owners.cap import CapKind
from ferryman.domain.owners.user_changes import is_path
from ferryman.domain.workspaces.audit import TARGET_CHARACTERS_MAX, TARGETS_MAX
from ferryman.domain.workspaces.member import Right, Role, list_rights
from ferryman.domain.workspaces.person import PERSON_NAME_CHARACTERS_MAX
from ferryman.serving import archived_conversations
from ferryman.serving.api.shapes.execution import TokenCounts
from ferryman.serving.api.shapes.fault import describe_first_fault
from ferryman.serving.api.shapes.shape import Credits, ResponseShape
from ferryman.serving.archived_conversations import ArchivedConversation, ArchivedMessage

ID_CHARACTERS_MAX = 100

Id = Annotated[str, Field(max_length=ID_CHARACTERS_MAX)]
Count = Annotated[int, Field(ge=0)]


class ArchivedMember(ResponseShape):
    """A member, with the name, "" where it was not known, and the rights that role and membership give."""

    person: Annotated[Id, Field(min_length=1)]
    name: Annotated[str, Field(max_length=PERSON_NAME_CHARACTERS_MAX)]
    role: Role
    approves: bool
    rights: tuple[Right, ...]
    max_credits_month: Credits | None
    created_at: AwareDatetime

    def find_fault(self) -> str | None:
        """Return what is wrong of the line as a whole."""
        known = sorted(list_rights(self.role, self.approves))
        return None if list(self.rights) == known else "rights: must be those of the role, and approve where given"


class ArchivedAuditEntry(ResponseShape):
    """A change: `person` and `key` are ids, "" for the owner and for the owner's own key."""

    id: Annotated[Id, Field(min_length=1)]
    person: Id
    key: Id
    action: Id
    targets: Annotated[tuple[Annotated[str, Field(max_length=TARGET_CHARACTERS_MAX)], ...], Field(max_length=TARGETS_MAX)]
    done: bool
    created_at: AwareDatetime

    def find_fault(self) -> str | None:
        """Return what is wrong of the line as a whole: nothing."""
        return None


class ArchivedAlert(ResponseShape):
    """An alert of a budget."""

    id: Annotated[Id, Field(min_length=1)]
    kind: CapKind
    subject: str
    limit: Credits
    percent: Count
    credits_used: Credits
    credits_reserved: Credits
    month: str
    is_refused: bool
    execution: Id
    created_at: AwareDatetime
    state: AlertState
    attempts: Count
    status: int | None
    reason: str
    settled_at: AwareDatetime | None

    def find_fault(self) -> str | None:
        """Return what is wrong of the line as a whole: nothing."""
        return None


class ArchivedDocument(ResponseShape):
    """A document of a user; `person` is "" for the owner and null for who has left, `content` null where it was unreadable."""

    user: Annotated[Id, Field(min_length=1)]
    person: Id | None
    path: str
    content: dict[str, Any] | None

    def find_fault(self) -> str | None:
        """Return what is wrong of the line as a whole."""
        return None if is_path(self.path) else "path: must be COLLECTION/NAME"


class ArchivedUsage(ResponseShape):
    """What was used under one name on one day, as `UsageCounts` has it."""

    day: date
    kind: RowKind
    name: Annotated[Id, Field(min_length=1)]
    turns: Count
    usage: TokenCounts
    definition_tokens: Count
    result_tokens: Count
    call_tokens: Count
    text_tokens: Count
    calls: Count
    failures: dict[Id, Count]
    latencies: tuple[Count, ...]
    llm_tokens: Credits
    api_call_fee: Credits
    embedding: Credits
    storage_unmetered: Count

    def find_fault(self) -> str | None:
        """Return what is wrong of the line as a whole."""
        return None if len(self.latencies) in (0, len(BOUNDS_MS) + 1) else "latencies: must be a number for each bucket"


ArchivedPerson = ArchivedMember | ArchivedAuditEntry | ArchivedAlert | ArchivedDocument | ArchivedUsage
ArchivedLine = ArchivedPerson | ArchivedConversation | ArchivedMessage
SHAPES: Mapping[str, type[ArchivedLine]] = {
    "members": ArchivedMember,
    "audit": ArchivedAuditEntry,
    "alerts": ArchivedAlert,
    "documents": ArchivedDocument,
    "usage": ArchivedUsage,
    **archived_conversations.SHAPES,
}
"""What a line is, by the kind of its file."""


def read_people_line(place: str, kind: str, line: Mapping[str, Any]) -> ArchivedLine:
    """Return a line of a file of one of the kinds in `SHAPES`. Raise `ArchiveError` with the first problem."""
    try:
        read = SHAPES[kind].model_validate(line)
    except ValidationError as error:
        raise ArchiveError(place, describe_first_fault(error)) from None
    if fault := read.find_fault():
        raise ArchiveError(place, fault)
    if read.model_dump(mode="json") != line:
        raise ArchiveError(place, f"is no line of {kind} as this version writes it: a member is too much, or written otherwise")
    return read

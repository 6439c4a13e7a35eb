"""Documents of users as they are stored: whose each is, and where."""

from __future__ import annotations

from dataclasses import dataclass, field

from ferryman.domain.owners.user_changes import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class UserDocument:
    """A document that a local function keeps for a user; `content` is None where what is stored cannot be read."""

    user: str
    path: str
    content: Document | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserDocumentPage:
    """Some documents in the order of their places. The next page begins after `end`; "": there is none."""

    items: tuple[UserDocument, ...]
    end: str = ""

"""The pin of a tool of an MCP server: which descriptor of it a person has accepted, by its digest (prevents rug pulls)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class PinState(StrEnum):
    """Whether a tool is offered to models and may be called. Only an accepted one is."""

    ACCEPTED = "accepted"
    """A person has accepted its descriptor, and the server lists that one."""
    NEW = "new"
    """Nobody has accepted a descriptor of it yet."""
    CHANGED = "changed"
    """The server lists another descriptor than the accepted one."""
    MISSING = "gone"
    """The server no longer lists it."""
    REFUSED = "refused"
    """Its descriptor is one that nobody can accept; the reason says why."""
    DISABLED = "disabled"
    """A person has accepted its descriptor, and then disabled it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPin:
    """A tool of a server: `tool` is the server's name of it, `name` the model's.

    `digest` is that of the descriptor that a person has accepted; None before anybody has. `pending` is the digest of the one
    that the server listed last, where that is another. `reason` says why it is refused. `disabled` tells that a person has
    disabled it since it was accepted: that lasts until a person accepts it again, whatever the server lists meanwhile.
    """

    tool: str
    name: str
    state: PinState
    digest: str | None = None
    pending: str | None = None
    reason: str | None = None
    disabled: bool = False
    accepted_at: datetime | None = None

    @property
    def listed_digest(self) -> str | None:
        """The digest of the descriptor that the server listed last, as far as it is kept."""
        return self.pending or self.digest

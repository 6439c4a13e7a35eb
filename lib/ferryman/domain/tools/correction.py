"""Corrections: what the owner of a tool says against the flow signature that was derived for it (`domain.flow`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class ArgumentRole(StrEnum):
    """What an argument is to the effect of a call."""

    DECIDES = "decides"
    """Where the effect goes: a recipient, a URL, an account, an amount, the id or the name of the thing."""
    CONTENT = "content"
    """What others read there. It may hold links, addresses and account numbers, which decide where its reader goes."""
    DETAIL = "detail"
    """How or when, or whatever else decides nothing, but for such links, addresses and account numbers."""
    FREE = "free"
    """What decides nothing, whatever it holds: the owner alone reads it, or says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowCorrection:
    """What the owner of a tool says against its derived signature; None leaves what was derived.

    `roles` are those of arguments, by name.
    """

    changes: bool | None = None
    sends: bool | None = None
    destroys: bool | None = None
    reads_people: bool | None = None
    roles: Mapping[str, ArgumentRole] = field(default_factory=dict)

"""The origin of an execution that was imported: where it ran, and what it was called there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """`workspace` is the workspace that it ran in. `ids` are the execution's fields that are ids of the deployment
    it ran in, with their values there: here it has others, or none, in their place.

    `keys` are the public keys by version, in hex, that its receipts were signed with there, as the archive told them.
    """

    workspace: str
    ids: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)

"""Versions of a key, and what is sealed to them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyVersion:
    """One version of a key in the store; one that was destroyed is none any more."""

    number: int
    enabled: bool
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCredentialRef:
    """One stored credential, by the task it stands at and its name, and the version of the key that it is sealed to."""

    task: str
    name: str
    version: int

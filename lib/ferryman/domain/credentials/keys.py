"""Versions of a key, and the credentials that are sealed to them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyVersion:
    """One version of a key in the store; destroyed versions are left out."""

    number: int
    enabled: bool
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCredentialRef:
    """One stored credential: its task, its name, and the version of the key that it is sealed to."""

    task: str
    name: str
    version: int

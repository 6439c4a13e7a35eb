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


FETCHED = "fetched token"
"""The name of what was fetched, in the inventory of what is sealed; no credential can have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCredentialRef:
    """One stored credential or fetched token: its task, its name, and the oldest version of the key that it is sealed to.

    The task of a token that was fetched without credentials is "".
    """

    task: str
    name: str
    version: int

"""API keys: how one is made, and the only form in which it is stored."""

from __future__ import annotations

import hashlib
import re
import secrets

PREFIX = "fm_"
_KEY = re.compile(r"fm_[A-Za-z0-9_-]{43}", re.ASCII)


def new_key() -> str:
    """A new API key: 256 bits of chance. It is shown once and never stored."""
    return PREFIX + secrets.token_urlsafe(32)


def digest(key: str) -> str:
    """The SHA-256 of `key` in hex; so much chance needs no salt and no slow hash."""
    return hashlib.sha256(key.encode()).hexdigest()


def key_of(authorization: str | None) -> str | None:
    """The key that an Authorization header carries, or None when it carries nothing of a key's form."""
    scheme, _, key = (authorization or "").partition(" ")
    key = key.strip()
    return key if scheme.lower() == "bearer" and _KEY.fullmatch(key) else None

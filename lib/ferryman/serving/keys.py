"""API keys, tokens of invitations, and codes of sign-in links: how one is made, and the only form in which it is stored."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets

PREFIX = "fm_"
_TOKEN = re.compile(r"fi_[A-Za-z0-9_-]{43}", re.ASCII)
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
_KEY = re.compile(r"fm_[A-Za-z0-9_-]{43}", re.ASCII)


def generate_key() -> str:
    """Return a new API key: 256 random bits. It is shown once and never stored."""
    return PREFIX + secrets.token_urlsafe(32)


def generate_token() -> str:
    """Return a new token of an invitation: 256 random bits. It is shown once and never stored."""
    return "fi_" + secrets.token_urlsafe(32)


def generate_code() -> str:
    """Return a new code of a sign-in link: 256 random bits, for which `is_secret`. It is shown once and never stored."""
    return secrets.token_urlsafe(32)


def write_key(derived: bytes) -> str:
    """Return the API key of 32 bytes that were derived."""
    return PREFIX + base64.urlsafe_b64encode(derived).rstrip(b"=").decode()


def is_secret(text: str) -> bool:
    """Tell whether `text` has the form of 32 bytes in base64url without padding."""
    return _SECRET.fullmatch(text) is not None


def is_token(text: str) -> bool:
    """Tell whether `text` has the form of a token of an invitation."""
    return _TOKEN.fullmatch(text) is not None


def digest_key(key: str) -> str:
    """Return the SHA-256 of an API key, a token or a code in hex; 256 random bits need no salt and no slow hash."""
    return hashlib.sha256(key.encode()).hexdigest()


def parse_key(authorization: str | None) -> str | None:
    """Return the key in an Authorization header, or None where nothing in it has the form of a key."""
    scheme, _, key = (authorization or "").partition(" ")
    key = key.strip()
    return key if scheme.lower() == "bearer" and _KEY.fullmatch(key) else None

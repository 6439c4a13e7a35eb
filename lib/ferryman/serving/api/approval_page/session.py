"""Sessions of the approval page: a signed cookie that names an API key by its digest, and CSRF tokens of forms.

Nothing is stored. A session is of use at this page alone, for an hour, and as long as its API key is valid: whatever it may is
asked of that key with each request.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

LIFETIME = timedelta(hours=1)
_COOKIE = re.compile(
    r"(?P<text>(?P<version>[0-9]{1,9})\.(?P<digest>[0-9a-f]{64})\.(?P<until>[0-9]{1,11})\.[A-Za-z0-9_-]{22})"
    r"\.(?P<mac>[0-9a-f]{64})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSession:
    """Who is signed in: `digest` is the SHA-256 of the API key in hex, `text` what was signed, with `key`.

    Two sessions of the same API key have other texts, and so other form tokens.
    """

    digest: str
    text: str = field(repr=False)
    key: bytes = field(repr=False)

    def write_form_token(self, approval: str, digest: str) -> str:
        """Return the CSRF token of the form that decides about the form `digest` of `approval`, in this session alone."""
        return _sign(self.key, "csrf", f"{self.text}\n{approval}\n{digest}")

    def accepts_form_token(self, token: str, approval: str, digest: str) -> bool:
        """Tell whether `token` is the CSRF token of that form."""
        return hmac.compare_digest(token.encode(errors="replace"), self.write_form_token(approval, digest).encode())


def write_cookie(keys: Mapping[int, bytes], digest: str, *, now: datetime) -> str:
    """Return the cookie of a new session of the API key with this `digest`, signed with the newest of `keys`."""
    version = max(keys)
    text = f"{version}.{digest}.{int((now + LIFETIME).timestamp())}.{secrets.token_urlsafe(16)}"
    return f"{text}.{_sign(keys[version], 'session', text)}"


def read_cookie(keys: Mapping[int, bytes], cookie: str, *, now: datetime) -> PageSession | None:
    """Return the session of a cookie; None where none of `keys` has signed it, or it is over."""
    match = _COOKIE.fullmatch(cookie)
    key = None if match is None else keys.get(int(match["version"]))
    if match is None or key is None or not hmac.compare_digest(_sign(key, "session", match["text"]), match["mac"]):
        return None
    if int(match["until"]) <= now.timestamp():
        return None
    return PageSession(digest=match["digest"], text=match["text"], key=key)


def _sign(key: bytes, what: str, text: str) -> str:
    return hmac.new(key, f"ferryman {what} 1\n{text}".encode(), hashlib.sha256).hexdigest()

"""The session's cookie, signed with a key of the api, and CSRF tokens of forms.

The cookie has a secret of its own, which is stored nowhere: what an API key seals for those who ask with one, it seals for a
session, so that neither the store nor the api's keys open it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

NAME = "__Host-ferryman"
"""Browsers take a cookie of this prefix from this host alone, over TLS, for all of its paths."""

LOCAL_NAME = "ferryman"
_COOKIE = re.compile(
    r"(?P<text>(?P<version>[0-9]{1,9})\.(?P<id>[A-Za-z0-9][A-Za-z0-9_-]{0,63})\.(?P<secret>[A-Za-z0-9_-]{43}))"
    r"\.(?P<mac>[0-9a-f]{64})",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedSession:
    """The id of the session that the cookie names, its `secret`, and the `key` that signed the cookie."""

    id: str
    secret: str = field(repr=False)
    key: bytes = field(repr=False)

    def write_form_token(self, path: str) -> str:
        """Return the CSRF token of the forms that are sent to `path` in this session."""
        return _sign(self.key, "csrf", f"{self.id}\n{path}")

    def accepts_form_token(self, token: str, path: str) -> bool:
        """Tell whether `token` is the CSRF token of the forms that are sent to `path`."""
        return hmac.compare_digest(token.encode(errors="replace"), self.write_form_token(path).encode())

    def sign_text(self, text: str) -> str:
        """Return `text`, signed for this session: for a cookie of its own, that no other session can bring."""
        return f"{text}.{_sign(self.key, 'text', f'{self.id}{chr(10)}{text}')}"

    def read_text(self, signed: str) -> str | None:
        """Return the text that was signed for this session; None for anything else."""
        text, _, mac = signed.rpartition(".")
        is_ours = hmac.compare_digest(mac.encode(errors="replace"), self.sign_text(text).rpartition(".")[2].encode())
        return text if is_ours else None


def write_cookie(keys: Mapping[int, bytes], session: str) -> str:
    """Return a cookie that names `session`, with a new secret of 256 random bits, signed with the newest of `keys`."""
    version = max(keys)
    text = f"{version}.{session}.{secrets.token_urlsafe(32)}"
    return f"{text}.{_sign(keys[version], 'session', text)}"


def read_cookie(keys: Mapping[int, bytes], cookie: str) -> SignedSession | None:
    """Return the session that a cookie names; None where none of `keys` has signed it."""
    match = _COOKIE.fullmatch(cookie)
    key = None if match is None else keys.get(int(match["version"]))
    if match is None or key is None or not hmac.compare_digest(_sign(key, "session", match["text"]), match["mac"]):
        return None
    return SignedSession(id=match["id"], secret=match["secret"], key=key)


def _sign(key: bytes, what: str, text: str) -> str:
    return hmac.new(key, f"ferryman {what} 2\n{text}".encode(), hashlib.sha256).hexdigest()

"""Signed requests (HMAC-SHA256, RFC 2104): who a request of the runtime is for, bound to all that it says (S4-17 … S4-19).

A token is `base64url(user:workspace:unix_ts:nonce).hex(HMAC)`. What is signed is that payload with the method, the path, the
two headers that name what is asked, and the SHA-256 of the body: a token is good for the request that it was made for alone.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, unquote

AGE_MAX = timedelta(minutes=5)
"""How far a token's moment may be from the verifier's clock, either way."""

KEY_BYTES_MIN = 32
TOKEN_CHARACTERS_MAX = 2_048
NONCE_BYTES = 16

MCP_PATH = "/mcp"
"""Where the platform's server takes requests."""

IDENTITY_HEADER = "X-Serverless-Authorization"
"""The header with Google's identity token, since the signed token is in `Authorization`."""

CONTEXT = "ferryman platform request 1"
"""Begins what is signed: a key that signs other texts elsewhere signs no request."""

_ID_CHARACTERS_MAX = 200
_TOKEN = re.compile(r"([A-Za-z0-9_-]{1,1900})\.([0-9a-f]{64})", re.ASCII)
_NONCE = re.compile(r"[0-9a-f]{32}", re.ASCII)
_MOMENT = re.compile(r"[1-9][0-9]{0,11}", re.ASCII)


class UnsignedRequestError(PermissionError):
    """The token is not good for this request. The text says why, and nothing of token or key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRequest:
    """What of a request is signed. `path` is as it is sent, with its query; `mcp_method` and `mcp_name` are the headers'."""

    method: str
    path: str
    mcp_method: str = ""
    mcp_name: str = ""
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestToken:
    """Who a request is for: a person (or the owner) and a workspace. `nonce` is used once."""

    user: str
    workspace: str
    at: datetime
    nonce: str


def sign_request(key: bytes, request: SignedRequest, token: RequestToken) -> str:
    """Return the value of the header `Authorization`. Raise ValueError for a key that is too short, or ids that are none."""
    if len(key) < KEY_BYTES_MIN:
        raise ValueError(f"the key of the platform must have at least {KEY_BYTES_MIN} bytes")
    if not all(0 < len(name) <= _ID_CHARACTERS_MAX for name in (token.user, token.workspace)) or not _NONCE.fullmatch(
        token.nonce
    ):
        raise ValueError("a token names a user, a workspace and a nonce")
    parts = quote(token.user, safe=""), quote(token.workspace, safe=""), str(int(token.at.timestamp())), token.nonce
    payload = base64.urlsafe_b64encode(":".join(parts).encode()).decode().rstrip("=")
    return f"Bearer {payload}.{_compute_mac(key, payload, request).hex()}"


def verify_request(keys: Iterable[bytes], authorization: str | None, request: SignedRequest, *, now: datetime) -> RequestToken:
    """Return the token of a request that one of `keys` signed. Raise `UnsignedRequestError`.

    Every key is compared in full and in constant time. Whether the nonce was used before is not known here.
    """
    scheme, _, text = (authorization or "").partition(" ")
    match = _TOKEN.fullmatch(text) if len(text) <= TOKEN_CHARACTERS_MAX else None
    if scheme != "Bearer" or match is None:
        raise UnsignedRequestError("no token of the runtime")
    payload, mac = match[1], bytes.fromhex(match[2])
    checks = [hmac.compare_digest(mac, _compute_mac(key, payload, request)) for key in keys if len(key) >= KEY_BYTES_MIN]
    if not any(checks):
        raise UnsignedRequestError("the token was not signed for this request")
    token = _read_payload(payload)
    if abs(now - token.at) > AGE_MAX:
        raise UnsignedRequestError(f"the token is not of the last {int(AGE_MAX.total_seconds())} seconds")
    return token


def _compute_mac(key: bytes, payload: str, request: SignedRequest) -> bytes:
    parts = CONTEXT, payload, request.method, request.path, request.mcp_method, request.mcp_name
    digest = hashlib.sha256(request.body).hexdigest()
    # with the length of each part before it: nothing can move from one to the next, whatever it holds
    signed = "".join(f"{len(part)}:{part}\n" for part in (*parts, digest))
    return hmac.digest(key, signed.encode("utf-8", "surrogatepass"), hashlib.sha256)


def _read_payload(payload: str) -> RequestToken:
    """Return what a signed payload says. Raise `UnsignedRequestError` where it is not written as `sign_request` writes it."""
    try:
        text = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)).decode("ascii")
        user, workspace, moment, nonce = text.split(":")
    except ValueError:
        raise UnsignedRequestError("the token is none of ours") from None
    if not (user and workspace and _MOMENT.fullmatch(moment) and _NONCE.fullmatch(nonce)):
        raise UnsignedRequestError("the token is none of ours")
    at = datetime.fromtimestamp(int(moment), UTC)
    return RequestToken(user=unquote(user), workspace=unquote(workspace), at=at, nonce=nonce)

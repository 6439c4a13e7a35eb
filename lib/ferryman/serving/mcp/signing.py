"""Signed texts that travel through a client: HMAC-SHA256 over a payload and over what it is bound to, in constant time."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

BYTES_MAX = 8_192
"""Of a signed text, beyond which it is neither made nor read."""


class InvalidSignatureError(ValueError):
    """A text that was not signed with any of the keys for what it is presented for, or whose time is over."""


def sign(keys: Sequence[bytes], purpose: str, payload: Mapping[str, Any], bound: Sequence[str], *, until: datetime) -> str:
    """Return `payload` as an ASCII text that `verify` reads until `until`, with the first of `keys`, for `purpose` and `bound`
    alone.

    The payload can be read by anyone; what it is bound to is not in it. Raise ValueError where the text would be too long.
    """
    inner = json.dumps({"until": until.timestamp(), "value": payload}, separators=(",", ":"), allow_nan=False).encode()
    text = f"{_encode(inner)}.{_encode(_authenticate(keys[0], purpose, inner, bound))}"
    if len(text) > BYTES_MAX:
        raise ValueError(f"a signed text has at most {BYTES_MAX:,} characters")
    return text


def verify(keys: Sequence[bytes], purpose: str, text: str, bound: Sequence[str], *, now: datetime) -> dict[str, Any]:
    """Return the payload of `text`. Raise `InvalidSignatureError`."""
    if len(text) > BYTES_MAX or not text.isascii():
        raise InvalidSignatureError
    payload, _, signature = text.partition(".")
    try:
        inner, code = _decode(payload), _decode(signature)
    except (binascii.Error, ValueError):
        raise InvalidSignatureError from None
    # every key is tried, so that the time tells nothing about which one signed
    matches = [hmac.compare_digest(_authenticate(key, purpose, inner, bound), code) for key in keys]
    if not any(matches):
        raise InvalidSignatureError
    signed = json.loads(inner)
    if now.timestamp() >= signed["until"]:
        raise InvalidSignatureError("expired")
    value: dict[str, Any] = signed["value"]
    return value


def _authenticate(key: bytes, purpose: str, inner: bytes, bound: Sequence[str]) -> bytes:
    code = hmac.new(key, digestmod=hashlib.sha256)
    for part in (purpose.encode(), inner, *(text.encode() for text in bound)):
        code.update(len(part).to_bytes(8, "big") + part)  # with its length, so that nothing moves from one part to the next
    return code.digest()


def _encode(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    content = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if _encode(content) != text:
        raise ValueError("not the one spelling of these bytes")
    return content

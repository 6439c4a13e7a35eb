"""Idempotency: responses kept for a retry, sealed under the API key of the caller, which is stored nowhere.

With the store alone, nobody can read a stored response or tell one request from another: a plain digest of a request that
holds a guessable secret would.
"""

from __future__ import annotations

import hmac
import json
import secrets
import zlib
from dataclasses import dataclass, field
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ferryman.vault.seal import UnsealError

_NONCE_BYTES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResponse:
    """A response of the API: its status, the location of what it created, and its body."""

    status: int
    location: str | None
    body: bytes = field(repr=False)


def compute_fingerprint(api_key: str, *parts: bytes) -> str:
    """Return the HMAC-SHA256 of the parts of a request, in hex, under a key derived from `api_key`."""
    digest = hmac.new(_derive_key(api_key, b"fingerprint"), digestmod=sha256)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def seal_response(api_key: str, request: str, answer: StoredResponse) -> bytes:
    """Return the response compressed and sealed (AES-256-GCM), bound to the id of its request."""
    head = json.dumps({"status": answer.status, "location": answer.location}).encode()
    text, nonce = zlib.compress(head + b"\n" + answer.body), secrets.token_bytes(_NONCE_BYTES)
    return nonce + AESGCM(_derive_key(api_key, b"answer")).encrypt(nonce, text, request.encode())


def open_response(api_key: str, request: str, sealed: bytes) -> StoredResponse:
    """Return the response that was sealed. Raise `UnsealError` if it does not open."""
    nonce, ciphertext = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
    try:
        text = zlib.decompress(AESGCM(_derive_key(api_key, b"answer")).decrypt(nonce, ciphertext, request.encode()))
    except (InvalidTag, ValueError):
        raise UnsealError("the answer does not open") from None
    head, _, body = text.partition(b"\n")
    return StoredResponse(**json.loads(head), body=body)


def _derive_key(api_key: str, purpose: bytes) -> bytes:
    info = b"ferryman idempotency v1 " + purpose
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(api_key.encode())

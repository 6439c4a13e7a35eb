"""An authorization server without a network: its keys, and access tokens as it signs them, or as others would."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from ferryman.domain.workspaces.identity import ProtectedResource
from ferryman.inmemory.clock import START

ISSUER = "https://login.example.test/tenant"
RESOURCE = ProtectedResource(url="https://testserver/mcp", issuer=ISSUER)
SUBJECT = "248289761001"
SCOPES = "ferryman:read ferryman:run"
HOUR = timedelta(hours=1)


def generate_private_key(algorithm: str, number: int = 0) -> Any:
    """Return a private key of the server, the same in all tests of a process; another `number` is another key."""
    return _generate(algorithm, number)


@cache
def _generate(algorithm: str, number: int) -> Any:
    if algorithm == "RS256":
        return rsa.generate_private_key(65537, 2048)
    if algorithm == "ES256":
        return ec.generate_private_key(ec.SECP256R1())
    return ed25519.Ed25519PrivateKey.from_private_bytes(hashlib.sha256(f"{number}".encode()).digest())


def describe_key(kid: str, algorithm: str, number: int = 0) -> dict[str, Any]:
    """Return the public half as a JSON Web Key."""
    makers: Mapping[str, Any] = {"RS256": RSAAlgorithm, "ES256": ECAlgorithm, "EdDSA": OKPAlgorithm}
    public = generate_private_key(algorithm, number).public_key()
    described: dict[str, Any] = makers[algorithm].to_jwk(public, as_dict=True)
    return {**described, "kid": kid, "alg": algorithm, "use": "sig"}


@dataclass
class Authority:
    """`ports.AuthorityKeys`: the key set of the server; `fails` is raised in its place. It answers once its `gate` is open."""

    listed: Sequence[Mapping[str, Any]] = field(
        default_factory=lambda: [describe_key(name, name) for name in ("RS256", "ES256", "EdDSA")]
    )
    fails: Exception | None = None
    gate: asyncio.Event | None = None
    fetches: int = 0

    async def fetch(self) -> Sequence[Mapping[str, Any]]:
        self.fetches += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.fails is not None:
            raise self.fails
        return self.listed


def build_claims(now: datetime = START, **changes: Any) -> dict[str, Any]:
    """Return the claims of a token that is valid for an hour; None leaves one out."""
    claims = {
        "iss": ISSUER,
        "aud": RESOURCE.url,
        "sub": SUBJECT,
        "client_id": "claude",
        "iat": int(now.timestamp()),
        "exp": int((now + HOUR).timestamp()),
        "jti": "1",
        "scope": SCOPES,
    }
    return {name: value for name, value in {**claims, **changes}.items() if value is not None}


def sign_token(
    *, algorithm: str = "EdDSA", key: Any = None, header: Mapping[str, Any] | None = None, now: datetime = START, **claims: Any
) -> str:
    """Return an access token. `header` changes its header, None leaves a member out."""
    named = {"typ": "at+jwt", "alg": algorithm, "kid": algorithm, **(header or {})}
    secret = key if key is not None else generate_private_key(algorithm)
    head = {name: value for name, value in named.items() if value is not None and name != "alg"}
    return jwt.PyJWS().encode(json.dumps(build_claims(now, **claims)).encode(), secret, algorithm=algorithm, headers=head)


def write_token(header: Mapping[str, Any], claims: Any, signature: bytes = b"", *, secret: bytes | None = None) -> str:
    """Return a token of these parts as a forger writes it, signed with HMAC-SHA256 under `secret` where there is one."""
    parts = ".".join(encode(json.dumps(part).encode()) for part in (header, claims))
    if secret is not None:
        signature = hmac.new(secret, parts.encode(), hashlib.sha256).digest()
    return f"{parts}.{encode(signature)}"


def encode(content: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()

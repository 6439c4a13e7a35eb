"""Forging: identity tokens as an attacker would make, borrow or bend them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from ferryman.stack import environment

if TYPE_CHECKING:
    from tests.campaigns.hostile.harness import Harness

HOUR_S = 3600
BENT: Mapping[str, Mapping[str, Any]] = {
    "expired": {"iat": -3 * HOUR_S, "exp": -2 * HOUR_S},
    "unborn": {"iat": 2 * HOUR_S, "exp": 3 * HOUR_S},
    "issuer": {"iss": "https://accounts.attacker.example"},
    "unverified": {"email_verified": False},
    "verified_text": {"email_verified": "true"},
    "audience": {"aud": "https://attacker.example"},
    "audiences": {"aud": ["https://attacker.example", "{audience}"]},
    "nobody": {"email": None},
    "lookalike": {"email": "ferryman-orchestrator@hostile.iam.gserviceaccount.com.attacker.example"},
}
"""What a token that the issuer's own key signed may get wrong: seconds are from now."""


async def bearer(harness: Harness, kind: str, function: str) -> str | None:
    """Return the token that is called `kind`, for `function`; None for none at all."""
    if kind == "none":
        return None
    audience = harness.functions[function]
    if ">" in kind:
        name, _, other = kind.partition(">")
        return await genuine(harness, name, harness.functions[other])
    caller = {"orchestrator": "ferryman-queue", "on_execution": "ferryman-trigger"}.get(function, "ferryman-orchestrator")
    claims = _claims(audience, f"{caller}@{harness.project}.iam.gserviceaccount.com")
    kid, certificate = next(iter((await _certificates(harness)).items()))
    if kind == "unsigned":
        return f"{_part({'alg': 'none', 'kid': kid, 'typ': 'JWT'})}.{_part(claims)}."
    if kind == "hs256":
        signing_input = f"{_part({'alg': 'HS256', 'kid': kid, 'typ': 'JWT'})}.{_part(claims)}"
        return f"{signing_input}.{_part(hmac.new(certificate.encode(), signing_input.encode(), hashlib.sha256).digest())}"
    if kind == "forged":
        return _sign(rsa.generate_private_key(public_exponent=65537, key_size=2048), kid, claims)
    bent = {name: _bent(name, value, audience) for name, value in BENT[kind].items()}
    return _sign(
        _issuers_key(harness.data), kid, {name: value for name, value in {**claims, **bent}.items() if value is not None}
    )


async def genuine(harness: Harness, name: str, audience: str) -> str:
    """Fetch a token of the account that function `name` runs as."""
    identity = next(row["identity"] for row in environment.load_functions() if row["name"] == name)
    return await harness.admin.create_token(environment.build_account(identity, harness.project), audience)


def _bent(name: str, value: Any, audience: str) -> Any:
    if name in ("iat", "exp"):
        return int(time.time()) + value
    return [item.replace("{audience}", audience) for item in value] if isinstance(value, list) else value


def _claims(audience: str, email: str) -> dict[str, Any]:
    now = int(time.time())
    times = {"iat": now, "exp": now + HOUR_S}
    return {"iss": "https://accounts.google.com", "aud": audience, "sub": "1", "email": email, "email_verified": True, **times}


def _sign(key: rsa.RSAPrivateKey, kid: str, claims: Mapping[str, Any]) -> str:
    signing_input = f"{_part({'alg': 'RS256', 'kid': kid, 'typ': 'JWT'})}.{_part(claims)}"
    return f"{signing_input}.{_part(key.sign(signing_input.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


def _issuers_key(data: Path) -> rsa.RSAPrivateKey:
    file = next(data.rglob("identity.pem"))
    key = serialization.load_pem_private_key(file.read_bytes(), password=None)
    assert isinstance(key, rsa.RSAPrivateKey)
    return key


async def _certificates(harness: Harness) -> dict[str, str]:
    certificates: dict[str, str] = await harness.admin.read_certificates()
    return certificates


def _part(value: Mapping[str, Any] | bytes) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()

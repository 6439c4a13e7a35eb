"""Forged identity tokens, by class: everything that a caller without the right account's key may show."""

from __future__ import annotations

import base64
import hmac
import json
import time
from typing import Any

from google.auth import crypt

from emulator.identity import IdentityTokens

AUDIENCE = "https://tool.test"
CALLER = "ferryman-orchestrator@p.iam.gserviceaccount.com"
ABSENT: Any = object()


def claims(**changes: Any) -> dict[str, Any]:
    """Return the claims of the right account's token, with `changes`; `ABSENT` removes a claim."""
    now = int(time.time())
    right = {
        "iss": "https://accounts.google.com",
        "aud": AUDIENCE,
        "azp": "1",
        "sub": "1",
        "email": CALLER,
        "email_verified": True,
    }
    claims = {**right, "iat": now - 5, "exp": now + 3_600, **changes}
    return {name: value for name, value in claims.items() if value is not ABSENT}


def segment(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def sign_claims(tokens: IdentityTokens, claims: Any, **header: Any) -> str:
    """Return a token with these claims, signed by the key of `tokens`."""
    signer: crypt.RSASigner = tokens._signer  # what its own `mint` signs with, for claims that it would not make
    text = f"{segment({'alg': 'RS256', 'typ': 'JWT', 'kid': signer.key_id, **header})}.{segment(claims)}"
    return f"{text}.{segment(signer.sign(text.encode()))}"


def unsigned(header: Any, claims: Any, signature: bytes = b"") -> str:
    return f"{segment(header)}.{segment(claims)}.{segment(signature)}"


def shared(secret: bytes, kid: str) -> str:
    """Return a token signed with the public key, as if it were a shared secret."""
    text = f"{segment({'alg': 'HS256', 'typ': 'JWT', 'kid': kid})}.{segment(claims())}"
    return f"{text}.{segment(hmac.digest(secret, text.encode(), 'sha256'))}"


def forgeries(ours: IdentityTokens, theirs: IdentityTokens) -> dict[str, dict[str, str | None]]:
    """Return Authorization headers by class and name. `theirs` signs with a key that nobody trusts."""
    (kid, pem), (their_kid, _) = *ours.certs().items(), *theirs.certs().items()
    now, good = int(time.time()), sign_claims(ours, claims())
    head, body, mark = good.split(".")
    rs256 = {"alg": "RS256", "typ": "JWT", "kid": kid}
    tables: dict[str, dict[str, str | None]] = {
        "no token": {
            "nothing": None,
            "empty": "",
            "scheme alone": "Bearer",
            "scheme and space": "Bearer ",
            "another scheme": f"Basic {good}",
        },
        "garbage": {
            name: f"Bearer {text}"
            for name, text in {
                **{
                    "words": "not a token",
                    "dots": "..",
                    "three words": "not.a.token",
                    "two parts": f"{head}.{body}",
                    "four parts": f"{good}.x",
                },
                **{"no JSON": f"{segment(b'{')}.{segment(b'{')}.{mark}", "lists": unsigned([], []), "numbers": unsigned(1, 2)},
                **{
                    "long": "x" * 100_000,
                    "high bytes": "\xff.\xff.\xff",
                    "deep": unsigned(rs256, {}).replace(".", f".{segment(b'[' * 50_000)}", 1),
                },
            }.items()
        },
        "signature": {
            name: f"Bearer {text}"
            for name, text in {
                **{
                    "none": unsigned({"alg": "none", "typ": "JWT"}, claims()),
                    "None": unsigned({"alg": "None", "kid": kid}, claims()),
                },
                **{
                    "cut off": f"{head}.{body}.",
                    "of another token": f"{head}.{segment(claims(sub='2'))}.{mark}",
                    "zeros": unsigned(rs256, claims(), b"\0" * 256),
                },
                **{"HS256 with the certificate": shared(pem.encode(), kid), "HS256 with nothing": shared(b"", kid)},
                **{
                    "ES256": unsigned({**rs256, "alg": "ES256"}, claims(), b"\1" * 64),
                    "no algorithm": unsigned({"kid": kid}, claims(), b"x"),
                },
                **{
                    "algorithm a list": unsigned({**rs256, "alg": ["RS256"]}, claims()),
                    "PS256": unsigned({**rs256, "alg": "PS256"}, claims(), b"x" * 256),
                },
                **{
                    "key another's": sign_claims(theirs, claims()),
                    "key another's, named ours": sign_claims(theirs, claims(), kid=kid),
                },
                **{
                    "key another's, unnamed": sign_claims(theirs, claims(), kid=""),
                    "key unknown": sign_claims(ours, claims(), kid="nobody"),
                },
                **{
                    "key's name a list": unsigned({**rs256, "kid": [kid]}, claims()),
                    "key's name an object": unsigned({**rs256, "kid": {}}, claims()),
                },
                **{
                    "key inside": unsigned(
                        {"alg": "RS256", "jwk": theirs.jwks()["keys"][0], "kid": their_kid}, claims(), b"x" * 256
                    )
                },
                **{"key from a URL": unsigned({**rs256, "jku": "https://evil.test/", "kid": their_kid}, claims(), b"x" * 256)},
            }.items()
        },
    }
    forged_claims = {
        "audience": [
            ABSENT,
            None,
            "",
            "https://other.test",
            f"{AUDIENCE}/",
            AUDIENCE.upper(),
            [AUDIENCE],
            [AUDIENCE, "x"],
            {AUDIENCE: 1},
        ],
        "issuer": [
            ABSENT,
            None,
            "",
            "https://evil.test",
            "https://accounts.google.com.evil.test",
            "https://accounts.google.com/",
            "http://accounts.google.com",
            ["https://accounts.google.com"],
        ],
        "account": [
            ABSENT,
            None,
            "",
            "someone@else.test",
            CALLER.upper(),
            f"{CALLER}.evil.test",
            f" {CALLER}",
            [CALLER],
            {"email": CALLER},
        ],
        "unverified": [ABSENT, None, False, "true", "false", 1, 0, [], [True]],
        "expired": [now - 1, now - 3_600, 0, -1, ABSENT, None, "soon", [now + 60]],
        "not yet valid": [now + 600, now + 10**9, ABSENT, None, "then", [now]],
    }
    fields = {
        "audience": "aud",
        "issuer": "iss",
        "account": "email",
        "unverified": "email_verified",
        "expired": "exp",
        "not yet valid": "iat",
    }
    for klass, values in forged_claims.items():
        changed = {f"{index}: {str(value)[:40]}": claims(**{fields[klass]: value}) for index, value in enumerate(values)}
        tables[klass] = {name: f"Bearer {sign_claims(ours, forged)}" for name, forged in changed.items()}
    tables["not yet valid"]["nbf"] = f"Bearer {sign_claims(ours, claims(nbf=now + 600))}"
    return tables

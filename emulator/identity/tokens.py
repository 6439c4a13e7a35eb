"""Tokens: OpenID Connect identity tokens, as Google signs them for service accounts."""

import hashlib
from datetime import timedelta
from functools import cached_property
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import crypt, jwt

from emulator.clock import EmulatorClock
from emulator.identity import certificate

ISSUER = "https://accounts.google.com"
LIFETIME = timedelta(hours=1)


class IdentityTokens:
    """Signs identity tokens, and publishes the keys to check them with.

    The key lies in the folder `path`, or lives as long as this object for None. Tokens are dated by `clock`, and
    their verifiers use the real time: give a clock that nobody turns where the two must agree.
    """

    def __init__(self, *, path: Path | None, clock: EmulatorClock) -> None:
        self._path = path
        self._clock = clock

    def mint(self, email: str, audience: str, lifetime: timedelta = LIFETIME) -> str:
        """Return a signed token that says: the bearer is the service account `email`, and speaks to `audience`."""
        now = int(self._clock.now().timestamp())
        subject = derive_subject(email)
        claims = {
            "iss": ISSUER,
            "aud": audience,
            "azp": subject,
            "sub": subject,
            "email": email,
            "email_verified": True,
            "iat": now,
            "exp": now + int(lifetime.total_seconds()),
        }
        token: bytes = jwt.encode(self._signer, claims)  # type: ignore[no-untyped-call]  # google-auth has no types here
        return token.decode()

    def certs(self) -> dict[str, str]:
        """Return key id to certificate in PEM, as https://www.googleapis.com/oauth2/v1/certs answers."""
        return dict(self._certs)

    def jwks(self) -> dict[str, list[dict[str, str]]]:
        """Return the JSON Web Key Set, as https://www.googleapis.com/oauth2/v3/certs answers."""
        return {"keys": [certificate.build_jwk(self._key)]}

    @cached_property
    def _key(self) -> rsa.RSAPrivateKey:
        return certificate.load_or_make(self._path)

    @cached_property
    def _signer(self) -> crypt.RSASigner:
        pem, name = certificate.to_pem(self._key), certificate.build_jwk(self._key)["kid"]
        signer: crypt.RSASigner = crypt.RSASigner.from_string(pem, name)  # type: ignore[no-untyped-call]  # as above
        return signer

    @cached_property
    def _certs(self) -> dict[str, str]:
        return {certificate.build_jwk(self._key)["kid"]: certificate.sign_certificate(self._key, self._clock.now())}


def derive_subject(email: str) -> str:
    """Return the unique number of a service account: 21 digits, always the same for one email."""
    return str(10**20 + int.from_bytes(hashlib.sha256(email.encode()).digest(), "big") % 10**20)

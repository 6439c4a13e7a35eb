"""Access tokens (RFC 9068): signed by the operator's authorization server, for this server alone, and valid now.

A token's header decides nothing but which of the server's keys is tried: the algorithm is that of the key, symmetric ones and
`none` are not among them, and no key and no URL in a header is ever used.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import jwt

from ferryman.domain.workspaces.identity import AccessToken, InvalidAccessTokenError
from ferryman.ports.authority import AuthorityKeys
from ferryman.ports.clock import Clock
from ferryman.ports.errors import UnavailableError

ALGORITHMS = ("RS256", "ES256", "EdDSA")
TYPES = ("at+jwt", "application/at+jwt")
TOKEN_CHARACTERS_MAX = 8_192
CLAIM_CHARACTERS_MAX = 255
SCOPES_MAX = 100
AUDIENCES_MAX = 20
LEEWAY_S = 30
"""How far the clock of the authorization server may be from ours."""

KEYS_LIFE = timedelta(hours=1)
"""How long keys are used before they are fetched again: a key that the server withdrew is of no use after that."""

REFRESH_EVERY = timedelta(minutes=1)
"""How often keys are fetched again at most because a token names one that is not known."""

RETRY_AFTER = timedelta(seconds=5)
"""How long keys are not asked for after they could not be fetched."""

_SHAPE = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+", re.ASCII)
_OPTIONS = jwt.types.SigOptions(verify_signature=True, enforce_minimum_key_length=True)


@dataclass(slots=True)
class AccessTokenReader:
    """`ports.AccessTokens`, of one `issuer` and for one `audience`, both compared character by character."""

    issuer: str
    audience: str
    keys: AuthorityKeys
    clock: Clock
    _known: Mapping[str, jwt.PyJWK] = field(default_factory=dict, init=False, repr=False)
    _fetched_at: datetime | None = field(default=None, init=False)
    _failed_at: datetime | None = field(default=None, init=False)
    _fetching: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)

    async def verify(self, token: str) -> AccessToken:
        if len(token) > TOKEN_CHARACTERS_MAX or not _SHAPE.fullmatch(token):
            raise InvalidAccessTokenError(f"it is no signed JWT of at most {TOKEN_CHARACTERS_MAX:,} characters")
        kid = self._read_kid(token)
        key = await self._find_key(kid)
        try:
            signed = jwt.PyJWS().decode_complete(token, key, list(ALGORITHMS), _OPTIONS)
            claims = json.loads(signed["payload"])
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise InvalidAccessTokenError("its signature is not that of a key of the authorization server") from None
        return self._read_claims(claims)

    def _read_kid(self, token: str) -> str:
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise InvalidAccessTokenError("its header is not that of a signed JWT") from None
        kind, kid = header.get("typ"), header.get("kid")
        if not isinstance(kind, str) or kind.lower() not in TYPES:
            raise InvalidAccessTokenError("its type is not at+jwt (RFC 9068)")
        if header.get("alg") not in ALGORITHMS or "crit" in header or "b64" in header:
            raise InvalidAccessTokenError(f"its algorithm is none of {', '.join(ALGORITHMS)}, or it has extensions")
        if not isinstance(kid, str) or len(kid) > CLAIM_CHARACTERS_MAX:
            raise InvalidAccessTokenError("it does not name the key that it was signed with")
        return kid

    async def _find_key(self, kid: str) -> jwt.PyJWK:
        """Return a key of the server, fetched if need be: those that wait are served by one fetch, and who needs none waits for
        none."""
        if self._needs_fetch(kid):
            async with self._fetching:
                if self._needs_fetch(kid):
                    await self._fetch()
        key = self._known.get(kid)
        if key is None:
            raise InvalidAccessTokenError("the authorization server has no key of that name")
        return key

    def _needs_fetch(self, kid: str) -> bool:
        age = None if self._fetched_at is None else self.clock.now() - self._fetched_at
        return age is None or age >= KEYS_LIFE or (kid not in self._known and age >= REFRESH_EVERY)

    async def _fetch(self) -> None:
        """Fetch the keys. Raise `UnavailableError`, for some seconds without asking: anyone can send what is like a token."""
        if self._failed_at is not None and self.clock.now() - self._failed_at < RETRY_AFTER:
            raise UnavailableError("the keys of the authorization server are not known", after_s=RETRY_AFTER.total_seconds())
        try:
            self._known = read_keys(await self.keys.fetch())
        except UnavailableError:
            self._failed_at = self.clock.now()
            raise
        self._fetched_at, self._failed_at = self.clock.now(), None

    def _read_claims(self, claims: Any) -> AccessToken:
        if not isinstance(claims, dict) or claims.get("iss") != self.issuer:
            raise InvalidAccessTokenError("its issuer is another one")
        audiences = claims.get("aud")
        listed = audiences if isinstance(audiences, list) else [audiences]
        if len(listed) > AUDIENCES_MAX or self.audience not in listed:
            raise InvalidAccessTokenError("it is for another server: its audience is not this one")
        now = self.clock.now().timestamp()
        if not _is_moment(claims.get("exp")) or now >= claims["exp"] + LEEWAY_S:
            raise InvalidAccessTokenError("it has expired")
        for name in ("nbf", "iat"):
            if name in claims and (not _is_moment(claims[name]) or now < claims[name] - LEEWAY_S):
                raise InvalidAccessTokenError("it is not valid yet")
        subject, scope = claims.get("sub"), claims.get("scope", "")
        if not isinstance(subject, str) or not 0 < len(subject) <= CLAIM_CHARACTERS_MAX or not isinstance(scope, str):
            raise InvalidAccessTokenError("it does not say whose it is, or its scopes are no text")
        scopes = scope.split(" ")
        if len(scopes) > SCOPES_MAX:
            raise InvalidAccessTokenError(f"it has more than {SCOPES_MAX} scopes")
        try:
            subject.encode()
        except UnicodeEncodeError:
            raise InvalidAccessTokenError("its subject is no text") from None
        return AccessToken(issuer=self.issuer, subject=subject, scopes=frozenset(filter(None, scopes)))


def read_keys(listed: Sequence[Mapping[str, Any]]) -> dict[str, jwt.PyJWK]:
    """Return the keys that tokens may be signed with, by name. Others are left out: symmetric ones, those for encryption, weak
    ones, and those whose name another one has as well."""
    keys: dict[str, jwt.PyJWK] = {}
    twice = set[str]()
    for described in listed:
        kid = described.get("kid")
        if not isinstance(kid, str) or described.get("use", "sig") != "sig" or described.get("kty") not in ("RSA", "EC", "OKP"):
            continue
        try:
            # of what is known to be public alone: a private half that was published by mistake is not even read
            key = jwt.PyJWK({name: described[name] for name in _PUBLIC if name in described})
        except (jwt.PyJWTError, ValueError, TypeError):
            continue
        if key.algorithm_name in ALGORITHMS:
            twice |= {kid} & keys.keys()
            keys[kid] = key
    return {kid: key for kid, key in keys.items() if kid not in twice}


_PUBLIC = ("kty", "crv", "alg", "n", "e", "x", "y")


def _is_moment(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12

"""Store: the codes and tokens that one server has given out, and how often each grant was used."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from emulator.clock import EmulatorClock
from emulator.internet.oauth.rules import Rules
from emulator.internet.oauth.signer import TokenSigner


class OAuthRefusedError(Exception):
    """An error of RFC 6749, 5.2."""

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(description)
        self.error = error
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """What was consented to, until it is exchanged."""

    client: str
    redirect_uri: str
    challenge: str
    scope: str
    resource: str
    expires: float


@dataclass(slots=True, kw_only=True)
class Family:
    """All that came of one consent: `refresh` is its current refresh token, which the ones before revoke with it."""

    client: str
    scope: str
    resource: str = ""
    refresh: str = ""
    expires: float = 0.0
    revoked: bool = False


@dataclass(slots=True)
class TokenStore:
    """Codes and tokens by their text. Nothing is forgotten: a token that is shown too late is told from an unknown one."""

    clock: EmulatorClock
    codes: dict[str, Code] = field(default_factory=dict)
    families: dict[str, Family] = field(default_factory=dict)
    access: dict[str, tuple[Family, float]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    signer: TokenSigner = field(default_factory=TokenSigner)
    registered: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The redirect URIs of public clients that registered themselves (RFC 7591), by id."""
    issued: list[str] = field(default_factory=list)

    def now(self) -> float:
        """Return the cloud's time, in seconds since 1970."""
        return self.clock.now().timestamp()

    def issue_code(
        self, rules: Rules, *, client: str, redirect_uri: str, challenge: str, scope: str, resource: str = ""
    ) -> str:
        """Issue a new code; tokens that come of it are for `resource`."""
        code = self._new("code_")
        self.codes[code] = Code(
            client=client,
            redirect_uri=redirect_uri,
            challenge=challenge,
            scope=scope,
            resource=resource,
            expires=self.now() + rules.code_s,
        )
        return code

    def register(self, redirect_uris: tuple[str, ...]) -> str:
        """Return the id of a new public client."""
        client = f"client_{secrets.token_urlsafe(12)}"
        self.registered[client] = redirect_uris
        return client

    def exchange_code(self, rules: Rules, form: Mapping[str, str], client: str) -> dict[str, object]:
        """Exchange a code, once, for the answer of the token endpoint."""
        code = self.codes.pop(form.get("code", ""), None)
        if code is None or code.expires <= self.now() or code.client != client:
            raise OAuthRefusedError("invalid_grant", "the code is unknown, used, expired or another client's")
        if form.get("redirect_uri") != code.redirect_uri:
            raise OAuthRefusedError("invalid_grant", "the redirect URI is another")
        if not secrets.compare_digest(challenge_of(form.get("code_verifier", "")), code.challenge):
            raise OAuthRefusedError("invalid_grant", "the verifier does not fit")
        if form.get("resource", code.resource) != code.resource:
            raise OAuthRefusedError("invalid_target", "the resource is another one than the code is for")
        return self._issue(rules, Family(client=client, scope=code.scope, resource=code.resource), form.get("issuer", ""))

    def refresh(self, rules: Rules, form: Mapping[str, str], client: str) -> dict[str, object]:
        """Return the answer to a refresh token; one that was rotated out takes its family with it (RFC 9700, 4.14.2)."""
        presented = form.get("refresh_token", "")
        family = self.families.get(presented)
        if family is None or family.client != client:
            raise OAuthRefusedError("invalid_grant", "the refresh token is unknown or another client's")
        if family.refresh != presented:
            self.counts["reuse"] += 1
            family.revoked = True
        if family.revoked or family.expires <= self.now():
            raise OAuthRefusedError("invalid_grant", "the refresh token is revoked or expired")
        return self._issue(rules, family, form.get("issuer", ""))

    def issue_to_client(self, rules: Rules, client: str, scope: str) -> dict[str, object]:
        """Issue a token to a client that asks for itself, as the answer of the token endpoint."""
        return self._access(rules, Family(client=client, scope=scope))

    def open_session(self, rules: Rules, user: str) -> str:
        """Issue a token of the login that is no OAuth."""
        return str(self._access(rules, Family(client=user, scope=""))["access_token"])

    def is_valid(self, token: str, resource: str | None = None) -> bool:
        """Return whether the token opens what is protected; with a `resource`, only one that is for it."""
        family, expires = self.access.get(token, (None, 0.0))
        is_open = family is not None and not family.revoked and expires > self.now()
        return is_open and (resource is None or (family is not None and family.resource == resource))

    def _issue(self, rules: Rules, family: Family, issuer: str) -> dict[str, object]:
        if rules.rotate or not family.refresh:
            family.refresh = self._new("refresh_")
            self.families[family.refresh] = family
        family.expires = self.now() + rules.refresh_s
        return {**self._access(rules, family, issuer), "refresh_token": family.refresh}

    def _access(self, rules: Rules, family: Family, issuer: str = "") -> dict[str, object]:
        token = self._sign(rules, family, issuer) if family.resource else self._new("access_")
        self.access[token] = (family, self.now() + rules.access_s)
        answer: dict[str, object] = {"access_token": token, "token_type": "Bearer", "expires_in": int(rules.access_s)}
        return {**answer, "scope": family.scope} if family.scope else answer

    def _sign(self, rules: Rules, family: Family, issuer: str) -> str:
        """Return a signed access token (RFC 9068)."""
        now = int(self.now())
        claims = {
            "iss": issuer,
            "aud": family.resource,
            "sub": rules.subject,
            "client_id": family.client,
            "scope": family.scope,
        }
        token = self.signer.sign({**claims, "iat": now, "exp": now + int(rules.access_s), "jti": secrets.token_urlsafe(12)})
        self.issued.append(token)
        return token

    def _new(self, prefix: str) -> str:
        token = prefix + secrets.token_urlsafe(24)
        self.issued.append(token)
        return token


def challenge_of(verifier: str) -> str:
    """Return the S256 challenge of a verifier (RFC 7636, 4.6)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()

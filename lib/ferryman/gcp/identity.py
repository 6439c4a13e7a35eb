"""Identity tokens: our own, from the metadata server, and the check of a caller's (authentication)."""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Mapping
from typing import Any

import httpx

from ferryman.gcp.http import HttpClient
from ferryman.ports.errors import UnavailableError
from ferryman.settings import Settings

ISSUERS = ("https://accounts.google.com", "accounts.google.com")
MARGIN_S = 300
"""A new token is requested this long before the old one expires."""


class MetadataIdentity:
    """Identity tokens of the service account this function runs as, one per audience, kept until shortly before they expire."""

    def __init__(self, wire: HttpClient, settings: Settings) -> None:
        self._wire = wire
        self._settings = settings
        self._tokens: dict[str, tuple[float, str]] = {}
        self._asking = asyncio.Lock()

    async def token(self, audience: str) -> str:
        """Return a token for `audience`. Raise `UnavailableError` where the metadata server does not answer."""
        async with self._asking:
            cached = self._tokens.get(audience)
            if cached is None or cached[0] <= time.time():
                cached = await self._ask(audience)
                self._tokens[audience] = cached
            return cached[1]

    async def _ask(self, audience: str) -> tuple[float, str]:
        url = f"http://{self._settings.metadata_host}/computeMetadata/v1/instance/service-accounts/default/identity"
        try:
            answer = await self._wire.client().get(
                url, params={"audience": audience, "format": "full"}, headers={"Metadata-Flavor": "Google"}
            )
            answer.raise_for_status()
        except httpx.HTTPError as error:
            raise UnavailableError("the metadata server gave no identity token") from error
        token = answer.text.strip()
        return _decode_claims(token, verify=False)["exp"] - MARGIN_S, token


class MetadataAccess:
    """Access tokens of the service account this function runs as, kept until shortly before they expire."""

    def __init__(self, wire: HttpClient, settings: Settings) -> None:
        self._wire = wire
        self._settings = settings
        self._until, self._token = 0.0, ""
        self._email = ""
        self._asking = asyncio.Lock()

    async def email(self) -> str:
        """Return the account's address. Raise `UnavailableError` where the metadata server does not answer."""
        async with self._asking:
            if not self._email:
                self._email = (await self._get("email")).text.strip()
            return self._email

    async def token(self) -> str:
        """Return an access token. Raise `UnavailableError` where the metadata server does not answer."""
        async with self._asking:
            if self._until <= time.time():
                self._until, self._token = await self._ask()
            return self._token

    async def _ask(self) -> tuple[float, str]:
        answer = await self._get("token")
        try:
            body = answer.json()
            # its own server keeps a token until some minutes before it expires, and may answer one with less left
            return time.time() + max(0, int(body["expires_in"]) - MARGIN_S), str(body["access_token"])
        except (ValueError, KeyError, TypeError) as error:
            raise UnavailableError("the metadata server gave no access token") from error

    async def _get(self, what: str) -> httpx.Response:
        url = f"http://{self._settings.metadata_host}/computeMetadata/v1/instance/service-accounts/default/{what}"
        try:
            answer = await self._wire.client().get(url, headers={"Metadata-Flavor": "Google"})
            return answer.raise_for_status()
        except httpx.HTTPError as error:
            raise UnavailableError(f"the metadata server gave no {what}") from error


class TokenCallers:
    """`ports.CallerIdentifier`: issuer, audience, signature, expiry and e-mail, checked here besides IAM."""

    def __init__(self, wire: HttpClient, settings: Settings) -> None:
        self._wire = wire
        self._settings = settings
        self._certs: tuple[float, Mapping[str, str]] = (0.0, {})

    @staticmethod
    def load() -> None:
        """Import what checks tokens: some tens of milliseconds, which belong off the event loop."""
        importlib.import_module("google.auth.jwt")

    async def identify(self, authorization: str | None, *, audience: str) -> str:
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise PermissionError("no identity token")
        if not audience:
            raise PermissionError("this function does not know its own address, and so nobody's token is for it")
        certs = await self._certificates()
        try:
            claims = _decode_claims(token, certs=certs, audience=audience)
            passed = claims["iss"] in ISSUERS and claims["email_verified"] is True and claims.get("nbf", 0) <= time.time()
        except Exception:  # noqa: BLE001 - the library raises whatever a hostile header or claim makes it stumble over
            passed = False
        if not passed or not isinstance(claims.get("email"), str):
            raise PermissionError("the identity token is not valid here")
        return str(claims["email"])

    async def _certificates(self) -> Mapping[str, str]:
        until, certs = self._certs
        if until > time.time():
            return certs
        try:
            answer = await self._wire.client().get(self._settings.certs_url)
            answer.raise_for_status()
            self._certs = (time.time() + MARGIN_S, answer.json())
        except (httpx.HTTPError, ValueError) as error:
            raise UnavailableError("the certificates of identity tokens could not be fetched") from error
        return self._certs[1]


def _decode_claims(token: str, **check: Any) -> Mapping[str, Any]:
    from google.auth import jwt

    decode: Any = jwt.decode  # the library has no types here
    claims: Mapping[str, Any] = decode(token, **check)
    return claims

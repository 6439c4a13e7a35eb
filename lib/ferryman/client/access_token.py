"""An access token for /mcp by a person's consent: OAuth 2.1 with PKCE, as a client of the service.

The service names its authorization server (RFC 9728), and that one its endpoints (RFC 8414). Each document must be of exactly
the resource and the issuer that it was asked for as.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx

from ferryman.client.request import LIMITS, TIMEOUT_S
from ferryman.client.trust import create_context
from ferryman.domain.credentials.connection import derive_challenge
from ferryman.domain.oauth_urls import list_metadata_urls

WELL_KNOWN = "/.well-known/oauth-protected-resource/mcp"
DOCUMENT_BYTES_MAX = 200_000
SCOPES = "ferryman:read ferryman:run"
LOOPBACK = ("127.0.0.1", "localhost")


class NoAccessTokenError(Exception):
    """No access token can be had; the text says why, and holds nothing secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationServer:
    """Where a person consents and codes are exchanged, for tokens for `resource`."""

    issuer: str
    resource: str
    authorize_url: str
    token_url: str
    sends_iss: bool

    def build_authorize_url(self, *, client_id: str, redirect_uri: str, state: str, verifier: str) -> str:
        """Return the URL where the person consents."""
        query = {
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": redirect_uri,
            "scope": SCOPES,
            "state": state,
            "resource": self.resource,
            "code_challenge": derive_challenge(verifier),
            "code_challenge_method": "S256",
        }
        return f"{self.authorize_url}{'&' if '?' in self.authorize_url else '?'}{urlencode(query)}"

    def check_issuer(self, iss: str | None) -> None:
        """Raise `NoAccessTokenError` where an authorization response comes from another issuer (mix-up, RFC 9207)."""
        if iss is None and self.sends_iss:
            raise NoAccessTokenError("the authorization response does not say which issuer it comes from")
        if iss is not None and iss != self.issuer:
            raise NoAccessTokenError("the authorization response comes from another issuer")


async def find_authorization_server(url: str) -> AuthorizationServer:
    """Return the authorization server that the service at `url` names. Raise `NoAccessTokenError`."""
    async with _open() as http:
        described = await _get(http, url + WELL_KNOWN)
        if described is None:
            raise NoAccessTokenError(f"{url} names no authorization server")
        resource, servers = described.get("resource"), described.get("authorization_servers")
        if resource != f"{url}/mcp":
            raise NoAccessTokenError(f"{url} says that it is another resource: FERRYMAN_OAUTH_RESOURCE must be {url}/mcp")
        issuer = servers[0] if isinstance(servers, list) and servers and isinstance(servers[0], str) else ""
        for place in list_metadata_urls(_check_url(issuer)):
            metadata = await _get(http, place)
            if metadata is not None:
                return _read_server(metadata, issuer, resource)
    raise NoAccessTokenError(f"{issuer} has no metadata (RFC 8414)")


async def fetch_access_token(
    server: AuthorizationServer, *, client_id: str, redirect_uri: str, code: str, verifier: str
) -> str:
    """Return the access token for a code. Raise `NoAccessTokenError`."""
    form = {
        "grant_type": "authorization_code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "code": code,
        "code_verifier": verifier,
        "resource": server.resource,
    }
    async with _open() as http:
        answer = await _send(http, http.build_request("POST", server.token_url, data=form))
    token = None if answer is None else answer.get("access_token")
    if not isinstance(token, str):
        raise NoAccessTokenError("the authorization server gave no access token for the code")
    return token


def _open() -> httpx.AsyncClient:
    headers = {"Accept": "application/json"}
    return httpx.AsyncClient(verify=create_context(), timeout=TIMEOUT_S, limits=LIMITS, trust_env=False, headers=headers)


async def _get(http: httpx.AsyncClient, url: str) -> Mapping[str, Any] | None:
    return await _send(http, http.build_request("GET", url))


async def _send(http: httpx.AsyncClient, request: httpx.Request) -> Mapping[str, Any] | None:
    """Return the JSON object of an answer, None where there is none, without following where it leads."""
    content = bytearray()
    try:
        answer = await http.send(request, stream=True)
        try:
            async for part in answer.aiter_bytes():
                content += part
                if len(content) > DOCUMENT_BYTES_MAX:
                    raise NoAccessTokenError(f"{request.url.host} answered more than {DOCUMENT_BYTES_MAX:,} bytes")
        finally:
            await answer.aclose()
        value = json.loads(content) if answer.is_success else None
    except httpx.HTTPError as error:
        raise NoAccessTokenError(f"{request.url.host} could not be reached ({type(error).__name__})") from None
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else None


def _read_server(metadata: Mapping[str, Any], issuer: str, resource: str) -> AuthorizationServer:
    if metadata.get("issuer") != issuer:
        raise NoAccessTokenError("the metadata of the authorization server is of another issuer")
    if "S256" not in (metadata.get("code_challenge_methods_supported") or ()):
        raise NoAccessTokenError("the authorization server does not say that it supports PKCE with S256")
    return AuthorizationServer(
        issuer=issuer,
        resource=resource,
        authorize_url=_check_url(metadata.get("authorization_endpoint")),
        token_url=_check_url(metadata.get("token_endpoint")),
        sends_iss=metadata.get("authorization_response_iss_parameter_supported") is True,
    )


def _check_url(url: object) -> str:
    """Return a URL of the authorization server: of https, or of this machine."""
    parts = urlsplit(url if isinstance(url, str) else "")
    if parts.hostname and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)):
        return str(url)
    raise NoAccessTokenError("a URL of the authorization server is not of https")

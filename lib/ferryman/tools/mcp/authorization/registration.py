"""Registration: as which client we ask for consent. What a person gave first, then our metadata document, then RFC 7591."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.credentials.connection import is_client_id, is_loopback
from ferryman.domain.credentials.credential import Secret
from ferryman.domain.credentials.value import find_value_problems
from ferryman.domain.remote_servers.client_document import CLIENT_NAME, GRANT_TYPES, RESPONSE_TYPES
from ferryman.tools.mcp.authorization.failure import AuthorizationFailedError
from ferryman.tools.mcp.authorization.fetching import Fetcher
from ferryman.tools.mcp.authorization.metadata import IssuerMetadata

NONE, BASIC, POST = "none", "client_secret_basic", "client_secret_post"
_LOCATIONS = {BASIC: "basic_header", POST: "body"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredClient:
    """A client of one authorization server, and where its secret goes in a token request."""

    id: str
    secret: Secret | None = field(default=None, repr=False)
    creds_location: str = "body"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalClient:
    """A client that a person registered themselves. Its secret, if it has one, is sealed elsewhere and never comes here."""

    id: str
    has_secret: bool = False


async def obtain_client(
    fetcher: Fetcher, issuer: IssuerMetadata, *, registered: PersonalClient | None, document_url: str, redirect_uri: str
) -> RegisteredClient:
    """Return the client to ask for consent as. `document_url` is that of our metadata document, "" where there is none.

    Raise `AuthorizationFailedError`.
    """
    if registered is not None:
        place = _find_place(issuer) if registered.has_secret else "body"
        return RegisteredClient(id=registered.id, creds_location=place)
    if issuer.reads_documents and document_url:
        return RegisteredClient(id=document_url)
    if issuer.registration_url is not None:
        return await _register(fetcher, issuer, issuer.registration_url, redirect_uri)
    raise AuthorizationFailedError(
        "the authorization server registers no clients by itself: register one there, and give its client id"
    )


async def _register(fetcher: Fetcher, issuer: IssuerMetadata, url: str, redirect_uri: str) -> RegisteredClient:
    method = next((name for name in (NONE, BASIC, POST) if name in issuer.methods), None)
    if method is None:
        raise AuthorizationFailedError(_NO_METHOD)
    body = {
        "client_name": CLIENT_NAME,
        "redirect_uris": [redirect_uri],
        "grant_types": list(GRANT_TYPES),
        "response_types": list(RESPONSE_TYPES),
        "token_endpoint_auth_method": method,
        "application_type": "native" if is_loopback(redirect_uri) else "web",
    }
    status, answer = await fetcher.post(url, body, "the registration of the client")
    if status not in (200, 201):
        raise AuthorizationFailedError(
            f"the authorization server does not register the client (HTTP {status}): register one there, and give its client id"
        )
    return _read_registration(issuer, answer)


def _read_registration(issuer: IssuerMetadata, answer: Mapping[str, Any]) -> RegisteredClient:
    client, secret = answer.get("client_id"), answer.get("client_secret")
    if not isinstance(client, str) or not is_client_id(client):
        raise AuthorizationFailedError("the registration gave no client id")
    if secret is None or issuer.methods == (NONE,) or answer.get("token_endpoint_auth_method") == NONE:
        return RegisteredClient(id=client)
    problems = find_value_problems(secret) if isinstance(secret, str) else ()
    if not isinstance(secret, str) or problems:
        raise AuthorizationFailedError("the registration gave a client secret that could not be told from chance in a text")
    return RegisteredClient(id=client, secret=Secret(secret), creds_location=_find_place(issuer))


def _find_place(issuer: IssuerMetadata) -> str:
    """Return where the authorization server takes the secret of a client. Raise `AuthorizationFailedError`."""
    for method, place in _LOCATIONS.items():
        if method in issuer.methods:
            return place
    raise AuthorizationFailedError(_NO_METHOD)


_NO_METHOD = f"the authorization server takes none of {NONE}, {BASIC} and {POST} at its token endpoint"

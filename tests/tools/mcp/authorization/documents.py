"""Documents of a server and its authorization servers, as a fetcher finds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SERVER = "https://tools.example.com/team/mcp"
ISSUER = "https://login.example.com"
RESOURCE_AT = "https://tools.example.com/.well-known/oauth-protected-resource"
ISSUER_AT = "https://login.example.com/.well-known/oauth-authorization-server"


def build_resource(**change: Any) -> dict[str, Any]:
    """Return the metadata of `SERVER` as a protected resource."""
    return {"resource": SERVER, "authorization_servers": [ISSUER], **change}


def build_issuer(issuer: str = ISSUER, **change: Any) -> dict[str, Any]:
    """Return the metadata of an authorization server."""
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
        **change,
    }


@dataclass
class Documents:
    """A fetcher over documents by URL, which remembers what it was asked for."""

    documents: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    registered: tuple[int, Mapping[str, Any]] = (201, {"client_id": "registered"})
    requested: list[str] = field(default_factory=list)
    posted: list[Mapping[str, Any]] = field(default_factory=list)

    async def get(self, url: str, what: str) -> Mapping[str, Any] | None:
        self.requested.append(url)
        return self.documents.get(url)

    async def post(self, url: str, body: Mapping[str, Any], what: str) -> tuple[int, Mapping[str, Any]]:
        self.requested.append(url)
        self.posted.append(body)
        return self.registered


def build_documents(resource: Mapping[str, Any] | None = None, issuer: Mapping[str, Any] | None = None) -> Documents:
    """Return a fetcher of a server with one authorization server."""
    return Documents({f"{RESOURCE_AT}/team/mcp": resource or build_resource(), ISSUER_AT: issuer or build_issuer()})

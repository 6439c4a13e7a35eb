"""Discovery: from a server's URL and its challenge to the one authorization server whose tokens it takes.

The resource's metadata is where the challenge says, else at the well-known place with the server's path, else at the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from ferryman.domain.oauth_urls import list_metadata_urls
from ferryman.tools.mcp.authorization.challenge import Challenge
from ferryman.tools.mcp.authorization.failure import AuthorizationFailedError
from ferryman.tools.mcp.authorization.fetching import Fetcher
from ferryman.tools.mcp.authorization.metadata import IssuerMetadata, ResourceMetadata, read_issuer, read_resource

WELL_KNOWN = "/.well-known/oauth-protected-resource"
ISSUERS_TRIED_MAX = 3
"""Authorization servers of a resource that are asked at most, where the ones before have no metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovered:
    """A server's resource, and the authorization server that was chosen of those that it lists."""

    resource: ResourceMetadata
    issuer: IssuerMetadata


async def discover(fetcher: Fetcher, server_url: str, challenge: Challenge, *, issuer: str | None = None) -> Discovered:
    """Return how the server at `server_url` is authorized.

    `issuer` is the one that it was connected with, which is preferred while the server lists it. Raise
    `AuthorizationFailedError`.
    """
    resource = await find_resource(fetcher, server_url, challenge)
    listed = sorted(resource.issuers, key=lambda name: name != issuer)  # stable: the order of the server's own otherwise
    for name in listed[:ISSUERS_TRIED_MAX]:
        metadata = await find_issuer(fetcher, name)
        if metadata is not None:
            return Discovered(resource=resource, issuer=metadata)
    raise AuthorizationFailedError("none of the server's authorization servers has metadata (RFC 8414, OpenID Connect)")


async def find_resource(fetcher: Fetcher, server_url: str, challenge: Challenge) -> ResourceMetadata:
    """Return the metadata of the server as a protected resource. Raise `AuthorizationFailedError`."""
    for url in list_resource_urls(server_url, challenge):
        document = await fetcher.get(url, "the server's resource metadata")
        if document is not None:
            return read_resource(document, server_url)
    raise AuthorizationFailedError("the server has no metadata of itself as a protected resource (RFC 9728)")


def list_resource_urls(server_url: str, challenge: Challenge) -> tuple[str, ...]:
    """Return where the metadata of the resource may be, in order; the place that the challenge names is the only one."""
    if challenge.resource_metadata is not None:
        return (challenge.resource_metadata,)
    parts = urlsplit(server_url)
    root, path = f"{parts.scheme}://{parts.netloc}{WELL_KNOWN}", parts.path.rstrip("/")
    return tuple(dict.fromkeys([f"{root}{path}", root]))


async def find_issuer(fetcher: Fetcher, issuer: str) -> IssuerMetadata | None:
    """Return the metadata of an authorization server, None where it has none. Raise `AuthorizationFailedError`."""
    for url in list_metadata_urls(issuer):
        document = await fetcher.get(url, "the metadata of the authorization server")
        if document is not None:
            return read_issuer(document, issuer)
    return None

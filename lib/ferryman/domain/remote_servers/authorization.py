"""The authorization of an MCP server: what discovery pinned of it, and which URLs a protected resource covers.

A token is that of one issuer for one resource. It is sent to the server's own URL, which the resource covers, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ferryman.domain.credentials.connection import Connection
from ferryman.domain.credentials.credential import Secret
from ferryman.domain.credentials.integration import OAuth

TOKEN_NAME = "OAUTH_TOKEN"  # noqa: S105 - a name, not one
"""The name of the credential that a server's token is stored under."""

SERVER_CREDENTIALS_MAX = 11
"""Credentials of one server at most: those of its headers, and its token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAuthorization:
    """What was discovered of a server's authorization, and consented to by a person.

    `resource` is the identifier of the server as its own metadata spells it (RFC 8707, RFC 9728); `creds_location` is
    `basic_header` or `body`; `sends_iss` tells that every authorization response names its issuer (RFC 9207). `lacking` are
    scopes that a call of a tool lacked since.
    """

    issuer: str
    authorize_url: str
    token_url: str
    resource: str
    client_id: str
    creds_location: str = "body"
    scopes: tuple[str, ...] = ()
    sends_iss: bool = False
    lacking: tuple[str, ...] = ()

    def build_oauth(self) -> OAuth:
        """Return it as a service's entry has it, for the one client of OAuth."""
        return OAuth(
            authorize_url=self.authorize_url,
            token_url=self.token_url,
            scopes=self.scopes,
            client_id=self.client_id,
            creds_location=self.creds_location,
            issuer=self.issuer,
            sends_iss=self.sends_iss,
            resource=self.resource,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedConsent:
    """What a person is asked for. `client_secret` is that of a client that was registered just now, None for any other."""

    authorization: ServerAuthorization
    client_secret: Secret | None = field(default=None, repr=False)


def read_authorization(connection: Connection) -> ServerAuthorization | None:
    """Return what was pinned when a consent was begun; None for the consent to a service of the catalog."""
    if connection.issuer is None or connection.resource is None:
        return None
    return ServerAuthorization(
        issuer=connection.issuer,
        authorize_url=connection.authorize_url or "",
        token_url=connection.token_url,
        resource=connection.resource,
        client_id=connection.client_id,
        creds_location=connection.creds_location,
        scopes=connection.scopes,
        sends_iss=connection.sends_iss,
    )


def is_resource_of(resource: str, server_url: str) -> bool:
    """Tell whether `resource` covers the URL of a server: the same scheme and host, and its path or one above it.

    A path is above another at a border between segments alone. A query or a fragment covers nothing.
    """
    try:
        known, asked_for = urlsplit(resource), urlsplit(server_url)
    except ValueError:
        return False
    if "?" in resource or "#" in resource or "@" in known.netloc:
        return False
    if (known.scheme.lower(), known.netloc.lower()) != (asked_for.scheme.lower(), asked_for.netloc.lower()):
        return False
    above, path = known.path.rstrip("/"), asked_for.path
    return path.rstrip("/") == above or path.startswith(f"{above}/")

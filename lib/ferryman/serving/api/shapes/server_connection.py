"""Shapes of connecting an agent's MCP server: what is asked of a person, and what the consent was given for."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field, SecretStr, StrictStr

from ferryman.domain.remote_servers.authorization import ServerAuthorization
from ferryman.serving.api.shapes.shape import RequestShape, ResponseShape


class NewServerConnection(RequestShape):
    """A server that a person is to consent to. What is not given is discovered, or registered with its authorization server."""

    redirect_uri: StrictStr = Field(
        description="Where the consent page leads back to: a loopback address of the person's own, or the console's page"
    )
    client_id: StrictStr | None = Field(default=None, description="A client that you registered with the authorization server")
    client_secret: SecretStr | None = Field(default=None, description="Its secret: sealed at once; no route returns it")
    scopes: tuple[StrictStr, ...] | None = Field(default=None, description="In place of those that the server names")


class ServerConnectionResponse(ResponseShape):
    """Where the person consents, and to what. The page leads back to `redirect_uri` with `state` and a code, until
    `expires_at`. The authorization server `issuer` will give a token for `resource`, which goes to the server's URL alone."""

    authorize_url: str
    redirect_uri: str
    state: str
    expires_at: datetime
    issuer: str
    resource: str
    client_id: str
    scopes: tuple[str, ...]


class ConnectedServer(ResponseShape):
    """What a server is connected with. `token_expires_at` is null where the token does not say; it is renewed by itself."""

    server_id: str
    name: str
    issuer: str
    resource: str
    scopes: tuple[str, ...]
    token_expires_at: datetime | None


def describe_connected(
    server: str, name: str, authorization: ServerAuthorization, scopes: tuple[str, ...], expires_at: datetime | None
) -> ConnectedServer:
    """Return the answer about a server that was connected."""
    return ConnectedServer(
        server_id=server,
        name=name,
        issuer=authorization.issuer,
        resource=authorization.resource,
        scopes=scopes,
        token_expires_at=expires_at,
    )

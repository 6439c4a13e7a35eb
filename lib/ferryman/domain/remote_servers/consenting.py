"""A consent to an MCP server, as it is stored while a person is asked: with all that was discovered, which nothing changes."""

from __future__ import annotations

from datetime import datetime

from ferryman.domain.credentials.connection import LIFETIME, Connection, digest_state
from ferryman.domain.credentials.credential import AuthType, Label
from ferryman.domain.http.url import parse_url
from ferryman.domain.remote_servers.authorization import TOKEN_NAME, ServerAuthorization
from ferryman.domain.remote_servers.server import RemoteServer


def build_connection(
    server: RemoteServer, authorization: ServerAuthorization, *, redirect_uri: str, state: str, now: datetime
) -> Connection:
    """Return the consent to `server`, with nothing sealed in it yet; its token may go to the server's host alone."""
    return Connection(
        digest=digest_state(state),
        label=Label(
            owner=server.owner,
            task=server.id,
            name=TOKEN_NAME,
            version=0,
            service=server.id,
            auth_type=AuthType.BEARER,
            hosts=(parse_url(server.url).host,),
        ),
        redirect_uri=redirect_uri,
        token_url=authorization.token_url,
        client_id=authorization.client_id,
        creds_location=authorization.creds_location,
        scopes=authorization.scopes,
        expires_at=now + LIFETIME,
        issuer=authorization.issuer,
        authorize_url=authorization.authorize_url,
        resource=authorization.resource,
        sends_iss=authorization.sends_iss,
    )

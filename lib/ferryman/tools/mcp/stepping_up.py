"""Step-up: the scopes that a call of a server lacked are remembered, and asked for when a person connects it again.

Nothing is asked for by itself, and the call is not sent again: who consents is a person.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from ferryman.domain.credentials.connection import SCOPES_MAX
from ferryman.domain.stale import StaleError
from ferryman.ports.errors import UnavailableError
from ferryman.ports.remote_servers import RemoteServers
from ferryman.tools.mcp.authorization.challenge import read_challenge
from ferryman.tools.mcp.authorization.failure import AuthorizationFailedError
from ferryman.tools.mcp.protocol.errors import HttpStatusError

FORBIDDEN = 403


async def note_lacking_scopes(servers: RemoteServers, server_id: str, error: HttpStatusError, *, now: datetime) -> None:
    """Store the scopes that an answer names as lacking, with the server's authorization; nothing where it names none.

    What cannot be stored is not: the next answer names them again.
    """
    if error.status != FORBIDDEN:
        return
    with suppress(AuthorizationFailedError, StaleError, UnavailableError):
        challenge = read_challenge(error.www_authenticate)
        server = await servers.get(server_id)
        if server is None or server.authorization is None or not challenge.needs_more_scopes:
            return
        known = server.authorization
        lacking = tuple(scope for scope in challenge.scopes if scope not in known.scopes)
        if not lacking or lacking == known.lacking or len(known.scopes) + len(lacking) > SCOPES_MAX:
            return
        changed = replace(server, authorization=replace(known, lacking=lacking), updated_at=now)
        await servers.update(changed, ("authorization",), since=server.generation)

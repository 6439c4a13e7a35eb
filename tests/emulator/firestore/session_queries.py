"""Queries of the console's sessions, for the table of all queries."""

from datetime import UTC, datetime

from ferryman.domain.console_sessions.link import build_link
from ferryman.domain.console_sessions.session import build_session
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.gcp.api_keys import FirestoreApiKeys
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.console_sessions import FirestoreConsoleSessions

NOW = datetime(2026, 1, 1, tzinfo=UTC)


async def console_sessions_read(clients: GoogleClients) -> None:
    keys, sessions = FirestoreApiKeys(clients), FirestoreConsoleSessions(clients)
    key = ApiKey(id="key_console", owner="ann", workspace="ws_console", created_at=NOW)
    await keys.create("console", key)
    await sessions.create(build_session("s", key, "console", browser="", now=NOW))
    await sessions.put_link(build_link("code", key, "console", now=NOW))
    await sessions.list("ann", "ws_console", now=NOW)
    assert await keys.revoke(key.id, owner="ann", workspace="ws_console")

"""What the two revisions have requests say about the client: `_meta` and headers in 2026-07-28, headers alone in 2025-11-25."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.domain.mcp_headers import NAMED_BY
from ferryman.domain.mcp_revisions import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    METHOD_HEADER,
    MODERN,
    NAME_HEADER,
    PROTOCOL_VERSION,
    SESSION_HEADER,
    TASKS,
    VERSION_HEADER,
)
from ferryman.tools.mcp.protocol.headers import encode_value
from ferryman.tools.mcp.protocol.sessions import ClientSession

ACCEPT = {"accept": "application/json, text/event-stream"}
CLIENT = {"name": "ferryman", "version": "1"}
"""What a server is told about this client: nothing about who uses it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCapabilities:
    """What the caller can do for a server: show a person a `form` or a `url`, and wait for `tasks` (2026-07-28 alone)."""

    form: bool = False
    url: bool = False
    tasks: bool = False

    def declare(self, revision: str) -> dict[str, Any]:
        """Return the capabilities as they are declared. Roots, sampling and logging are not among them."""
        modes: dict[str, Any] = {mode: {} for mode, has in (("form", self.form), ("url", self.url)) if has}
        declared: dict[str, Any] = {"elicitation": modes} if modes else {}
        if self.tasks and revision == MODERN:
            declared["extensions"] = {TASKS: {}}
        return declared


def write_meta(revision: str, capabilities: ClientCapabilities, *, progress_token: int | None) -> dict[str, Any]:
    """Return the member `_meta` of a request's params."""
    meta: dict[str, Any] = {} if progress_token is None else {"progressToken": progress_token}
    if revision == MODERN:
        meta |= {
            PROTOCOL_VERSION: revision,
            CLIENT_INFO: CLIENT,
            CLIENT_CAPABILITIES: capabilities.declare(revision),
        }
    return meta


def write_headers(method: str, params: Mapping[str, Any], parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of a request of 2026-07-28; `parameters` are those that repeat arguments."""
    headers = {**ACCEPT, VERSION_HEADER: MODERN, METHOD_HEADER: method}
    name = params.get(NAMED_BY.get(method, ""))
    if isinstance(name, str):
        headers[NAME_HEADER] = encode_value(name)
    return {**headers, **parameters}


def write_session_headers(session: ClientSession) -> dict[str, str]:
    """Return the headers of everything that is sent in a session of 2025-11-25."""
    headers = {**ACCEPT, VERSION_HEADER: session.revision}
    if session.id is not None:
        headers[SESSION_HEADER] = session.id
    return headers

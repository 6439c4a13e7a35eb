"""Sessions of 2025: a signed text that the client repeats, with what it declared at `initialize`: no instance keeps it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ferryman.domain.mcp_codes import ErrorCode
from ferryman.serving.mcp.errors import McpError
from ferryman.serving.mcp.server import McpServer
from ferryman.serving.mcp.signing import InvalidSignatureError, sign, verify

PURPOSE = "ferryman mcp session 1"
LIFETIME = timedelta(days=30)
_CAPABILITIES = {"roots": ("listChanged",), "sampling": ("context", "tools"), "elicitation": ("form", "url")}
"""Capabilities of clients that a session remembers, and the modes of each: nothing that a client invents."""

_NAME_CHARACTERS_MAX = 128


@dataclass(frozen=True, slots=True)
class Session:
    """What a client of 2025 said at `initialize`; `id` names the session."""

    id: str
    revision: str
    client_info: Mapping[str, Any]
    capabilities: Mapping[str, Any]


async def open_session(server: McpServer, principal: str, revision: str, params: Mapping[str, Any]) -> str | None:
    """Return the value of `Mcp-Session-Id` for a client that initializes, None where the server has no sessions."""
    if server.session_keys is None:
        return None
    payload = {
        "id": secrets.token_urlsafe(16),
        "revision": revision,
        "capabilities": _select_capabilities(params.get("capabilities")),
        "info": _select_info(params.get("clientInfo")),
    }
    keys = await server.session_keys()
    return sign(keys, PURPOSE, payload, (principal,), until=server.clock.now() + LIFETIME)


async def read_session(server: McpServer, principal: str, text: str) -> Session:
    """Return the session that `text` holds. Raise `McpError` with 404: the client is to initialize again."""
    keys = [] if server.session_keys is None else await server.session_keys()
    try:
        payload = verify(keys, PURPOSE, text, (principal,), now=server.clock.now())
    except InvalidSignatureError:
        raise McpError(ErrorCode.INVALID_REQUEST, "no such session: initialize again", status=404) from None
    return Session(payload["id"], payload["revision"], payload["info"], payload["capabilities"])


def _select_capabilities(declared: Any) -> dict[str, Any]:
    selected: dict[str, Any] = {}
    if isinstance(declared, Mapping):
        for name, modes in _CAPABILITIES.items():
            capability = declared.get(name)
            if isinstance(capability, Mapping):
                selected[name] = {mode: {} for mode in modes if isinstance(capability.get(mode), Mapping)}
    return selected


def _select_info(info: Any) -> dict[str, str]:
    if not isinstance(info, Mapping):
        return {}
    texts = {name: info.get(name) for name in ("name", "version", "title")}
    return {name: text[:_NAME_CHARACTERS_MAX] for name, text in texts.items() if isinstance(text, str)}

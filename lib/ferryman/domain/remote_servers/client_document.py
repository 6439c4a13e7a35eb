"""Our client ID metadata document: who we are to the authorization servers of MCP servers, at a fixed URL of the API."""

from __future__ import annotations

from typing import Any

from ferryman.domain.credentials.redirect_uris import PASTED_PORT
from ferryman.domain.oauth_urls import CLIENT_DOCUMENT

CLIENT_NAME = "Ferryman"
GRANT_TYPES = ("authorization_code", "refresh_token")
RESPONSE_TYPES = ("code",)
CALLBACK_PATH = "/callback/mcp"
CONSOLE_CALLBACK = "/console/consents/mcp/connected"
"""The page of the console that a browser is led back to, below the URL of the API."""

REDIRECT_URIS = (
    *(f"http://{place}{path}" for place in ("127.0.0.1", "[::1]") for path in (CALLBACK_PATH, CONSOLE_CALLBACK)),
    f"http://127.0.0.1:{PASTED_PORT}{CALLBACK_PATH}",
)
"""Where a browser is led back to: on the person's own machine, at any port (RFC 8252, 7.3); one port is named for authorization
servers that compare it, too."""


def locate_console_callback(url: str) -> str:
    """Return the console's redirect URI where our document is served at `url`; "" where there is no document."""
    return url.removesuffix(CLIENT_DOCUMENT) + CONSOLE_CALLBACK if url else ""


def build_document(url: str) -> dict[str, Any]:
    """Return the document that is served at `url`, which is the client id."""
    return {
        "client_id": url,
        "client_name": CLIENT_NAME,
        "redirect_uris": [*REDIRECT_URIS, locate_console_callback(url)],
        "grant_types": list(GRANT_TYPES),
        "response_types": list(RESPONSE_TYPES),
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    }

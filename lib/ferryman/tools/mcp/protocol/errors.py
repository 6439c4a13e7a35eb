"""What may go wrong between this client and a server. The texts are our own; what the server says is in fields alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class McpClientError(Exception):
    """A request to an MCP server that has no result. Its text is one sentence without a word of the server's."""


class InvalidServerAnswerError(McpClientError):
    """The server answered with something that the protocol does not have."""


class AnswerTooLargeError(InvalidServerAnswerError):
    """The server sent more than is read."""


class AnswerLostError(McpClientError):
    """The stream ended before the answer to a request that the server has received: nobody knows whether it counted."""


class SessionLostError(McpClientError):
    """The server does not know the session of the request any longer, and did nothing. The next request begins another one."""


class UnsupportedServerError(McpClientError):
    """Client and server have no revision of the protocol in common, or the server changed its own."""


class UnwritableArgumentError(McpClientError):
    """An argument cannot be repeated in the header that the tool's schema names for it. Nothing was sent."""


class ServerError(McpClientError):
    """The server answered with an error of JSON-RPC. `message` and `data` are a stranger's words, the first at most 4,096
    characters."""

    def __init__(self, code: int, message: str, data: Any = None, *, status: int = 200) -> None:
        super().__init__(f"the MCP server answered with the error {code}")
        self.code = code
        self.message = message
        self.data = data
        self.status = status


class HttpStatusError(McpClientError):
    """The server answered with an HTTP status that says no. The header fields are a stranger's words.

    `www_authenticate` are the challenges of a 401 or 403, `retry_after` is when to ask again.
    """

    def __init__(self, status: int, *, www_authenticate: Sequence[str] = (), retry_after: str | None = None) -> None:
        super().__init__(f"the MCP server answered with HTTP status {status}")
        self.status = status
        self.www_authenticate = tuple(www_authenticate)
        self.retry_after = retry_after

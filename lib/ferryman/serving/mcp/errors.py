"""Errors of the protocol: JSON-RPC's codes and those of MCP, each with the HTTP status that it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.mcp_codes import ErrorCode

_STATUS = {ErrorCode.METHOD_NOT_FOUND: 404, ErrorCode.INTERNAL_ERROR: 500, ErrorCode.URL_ELICITATION_REQUIRED: 200}


class McpError(Exception):
    """A request that is answered with a JSON-RPC error.

    `code` is one of `ErrorCode`, or a positive number of the application: the HTTP status that says it. `message` is one
    sentence for the client, `data` any JSON. `status` is the HTTP status where the answer is no stream; `headers` go with it.
    """

    def __init__(
        self,
        code: int,
        message: str,
        data: Any = None,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = int(code)
        self.message = message
        self.data = data
        self.status = status or _STATUS.get(ErrorCode(code) if code < 0 else ErrorCode.INVALID_REQUEST, 400)
        self.headers = dict(headers or {})

    def to_error(self) -> dict[str, Any]:
        """Return the member `error` of the response."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return error


def refuse_http(status: int, message: str, headers: Mapping[str, str] | None = None) -> McpError:
    """Return the error of a request that HTTP refuses with `status`, which is its code as well (no code of JSON-RPC fits)."""
    return McpError(status, message, status=status, headers=headers)


def refuse_params(message: str) -> McpError:
    """Return the error of parameters that the method does not take: -32602."""
    return McpError(ErrorCode.INVALID_PARAMS, message)


def refuse_capability(required: Mapping[str, Any]) -> McpError:
    """Return the error of a client that did not declare the capabilities `required`, an object as the schema has it: -32021."""
    return McpError(
        ErrorCode.MISSING_CAPABILITY,
        "this needs a capability that the client does not declare",
        {"requiredCapabilities": dict(required)},
    )

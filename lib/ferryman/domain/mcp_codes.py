"""Codes of errors in JSON-RPC and MCP."""

from __future__ import annotations

from enum import IntEnum


class ErrorCode(IntEnum):
    """The codes that the protocol has."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    HEADER_MISMATCH = -32020
    MISSING_CAPABILITY = -32021
    UNSUPPORTED_VERSION = -32022
    URL_ELICITATION_REQUIRED = -32042
    """Of 2025-11-25 alone."""

"""Entries that the tests of declared tools share."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.declared import entry, request
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import OutboundRequest
from ferryman.domain.problem import InvalidInputError, Problem
from ferryman.domain.tools.declared import DeclaredTool

HOST = "api.weather.test"
URL = f"https://{HOST}/v1"
EXCHANGE = {"type": "token_exchange", "request": {"url": f"https://{HOST}/login"}, "extract": {"token_path": "$.token"}}
CLIENT = {"type": "oauth2_client_credentials", "token_url": f"https://{HOST}/token", "client_id": "id", "client_secret": "x"}
STATE = {"date": "2026-03-01", "datetime": "2026-03-01T10:00:00Z", "execution_id": "ex-1", "task_name": "weather"}


def read(**fields: Any) -> DeclaredTool:
    """Read an entry with a name and a URL, and `fields` over these."""
    return entry.read({"kind": "http", "name": "weather", "url": f"https://{HOST}/v1", **fields}, where="tools.0")


def faults(**fields: Any) -> list[Problem]:
    """List the problems of such an entry."""
    try:
        read(**fields)
    except InvalidInputError as error:
        return list(error.problems)
    return []


def fault(**fields: Any) -> str:
    """Return the only problem of it, with its place."""
    [problem] = faults(**fields)
    return f"{problem.field} {problem.message}"


def call(tool: DeclaredTool, **arguments: Any) -> OutboundRequest:
    return request.build_request(tool, arguments, state=STATE)


def refusal(tool: Any, **arguments: Any) -> str:
    """Return the message with which a call is refused."""
    with pytest.raises(CallRefusedError) as caught:
        call(tool, **arguments)
    return caught.value.refusal.message

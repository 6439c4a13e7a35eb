"""A gate for the suite's servers: what leaves is judged by the call's policy as ever, and sent to loopback in clear.

It resolves no names, makes no TLS, and scans nothing. `stream` hands over what comes as it comes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import httpx

from ferryman.catalog.tools import find_tool
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.executions.allowlist import check_url
from ferryman.domain.http.host import is_covered
from ferryman.domain.http.request import BodyType, InboundResponse, OutboundRequest, SecretPlaceholder, Template
from ferryman.domain.http.url import parse_url
from ferryman.ports.gate import CallPolicy, ResponseReader
from tests.campaigns.mcp.conformant.names import locate_names, locate_url, name_addresses

TIMEOUT_S = 20.0


class LoopbackGate:
    """`ports.StreamGate`, of what the client uses of it."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def send(self, outbound: OutboundRequest, call: CallPolicy) -> ToolCallResult:
        raise AssertionError("the client of MCP sends no call of a model")

    async def present(self, outbound: OutboundRequest, call: CallPolicy, inbound: InboundResponse) -> ToolCallResult:
        raise AssertionError("the suite reads no result of a model")

    async def fetch(self, outbound: OutboundRequest, call: CallPolicy) -> InboundResponse:
        """Return the response, its names put in."""
        async with self._http.stream(**_build(outbound, call)) as response:
            body = name_addresses((await response.aread()).decode("latin-1")).encode("latin-1")
            most = call.body_max or len(body)
            return _describe(response, body[:most], is_cut=len(body) > most)

    async def stream(
        self,
        outbound: OutboundRequest,
        call: CallPolicy,
        reader: ResponseReader,
        *,
        idle_s: float | None = None,
    ) -> InboundResponse:
        """Hand the response to `reader`. Bodies of JSON have their names put in; events are passed on as they come."""
        call.sending.begun = True
        async with self._http.stream(**_build(outbound, call)) as response:
            described = _describe(response, b"")
            if not await reader.begin(described.status, described.headers):
                return described
            if "json" in response.headers.get("content-type", ""):
                await reader.feed(name_addresses((await response.aread()).decode("latin-1")).encode("latin-1"))
                return described
            async for part in response.aiter_bytes():
                if not await reader.feed(part):
                    break
            return described


def _build(outbound: OutboundRequest, call: CallPolicy) -> dict[str, Any]:
    """Return the request as it is sent, after the check of its URL by the call's policy."""
    url = check_url(find_tool(outbound.tool).policy.network, outbound.url, call.execution)
    named = {**outbound.headers, **outbound.fixed_headers}
    headers = {name: locate_names(_fill(value, call.credentials, url.host)) for name, value in named.items()}
    content: str | None = None
    if outbound.body is not None and outbound.body_type is BodyType.FORM:
        fields = {name: locate_names(_fill(value, call.credentials, url.host)) for name, value in outbound.body.items()}
        content, headers["content-type"] = urlencode(fields), "application/x-www-form-urlencoded"
    elif outbound.body is not None:
        content, headers["content-type"] = locate_names(json.dumps(outbound.body)), "application/json"
    target = locate_url(str(parse_url(outbound.url)))
    return {"method": outbound.method.value, "url": target, "headers": headers, "content": content}


def _fill(value: str | Template, credentials: Mapping[str, Credential], host: str) -> str:
    if isinstance(value, str):
        return value
    pieces = value.pieces
    return "".join(_reveal(credentials[p.name], host) if isinstance(p, SecretPlaceholder) else p for p in pieces)


def _reveal(credential: Credential, host: str) -> str:
    assert is_covered(credential.label.hosts, host), "a credential goes to its own hosts alone"
    return credential.secret.reveal()


def _describe(response: httpx.Response, body: bytes, *, is_cut: bool = False) -> InboundResponse:
    headers = tuple((name, name_addresses(value)) for name, value in response.headers.multi_items())
    return InboundResponse(status=response.status_code, headers=headers, body=body, size_bytes=len(body), cut=is_cut)

"""The client of the platform's own MCP server: every request is signed for one user in one workspace, and sent once."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

from ferryman.domain.signed_request import IDENTITY_HEADER, MCP_PATH, NONCE_BYTES, RequestToken, SignedRequest, sign_request
from ferryman.gcp.http import SECONDS, HttpClient, build_trace_headers
from ferryman.ports.clock import Clock
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.ports.platform import RequestKeys
from ferryman.settings import Settings

PLATFORM_FUNCTION = "platform"
"""The function that serves the platform's tools."""

REVISION = "2026-07-28"
ANSWER_BYTES_MAX = 4 * 1_048_576


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    media_type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformClient:
    """`ports.Platform`. `url` is the endpoint, with its path; `token` returns an identity token for an audience.

    `audience` is the function's address; "" for an endpoint that is none of ours, which is sent no identity token.
    """

    wire: HttpClient
    url: str
    audience: str
    keys: RequestKeys
    clock: Clock
    token: Callable[[str], Awaitable[str]] = field(repr=False)
    traceparent: Callable[[], str] = str

    async def ask(
        self, method: str, params: Mapping[str, Any], *, user: str, workspace: str, within_s: float = SECONDS
    ) -> Mapping[str, Any]:
        """Return the result of one request. Raise `UnavailableError`, or `RejectedError` for an answer that is none."""
        meta = {
            **params.get("_meta", {}),
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientInfo": {"name": "ferryman-runtime", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        body = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
        name = params["name"] if method == "tools/call" else ""
        request = SignedRequest(method="POST", path=urlsplit(self.url).path, mcp_method=method, mcp_name=name, body=body)
        answer = await self._send(request, await self._sign(request, user, workspace), within_s)
        if answer.status == httpx.codes.UNAUTHORIZED and await self.keys.renewed():
            # nothing of it ran: it was signed with a version that is no longer valid
            answer = await self._send(request, await self._sign(request, user, workspace), within_s)
        if answer.status != httpx.codes.OK:
            raise UnavailableError(f"the platform answered {answer.status}")
        if not answer.media_type.startswith("application/json"):
            raise RejectedError("the platform answered no JSON")
        return _read_result(answer.content)

    async def _sign(self, request: SignedRequest, user: str, workspace: str) -> dict[str, str]:
        """Return the headers of a request, with a signature and a nonce of its own."""
        token = RequestToken(user=user, workspace=workspace, at=self.clock.now(), nonce=secrets.token_hex(NONCE_BYTES))
        return {
            "Authorization": sign_request(await self.keys.signing(), request, token),
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": REVISION,
            "Mcp-Method": request.mcp_method,
            **({"Mcp-Name": request.mcp_name} if request.mcp_name else {}),
            **({IDENTITY_HEADER: f"Bearer {await self.token(self.audience)}"} if self.audience else {}),
            **build_trace_headers(self.traceparent()),
        }

    async def _send(self, signed: SignedRequest, headers: Mapping[str, str], within_s: float) -> _Answer:
        client, received = self.wire.client(), bytearray()
        try:
            request = client.build_request("POST", self.url, content=signed.body, headers=headers, timeout=within_s)
            answer = await client.send(request, stream=True)
            try:
                async for part in answer.aiter_raw():
                    received += part
                    if len(received) > ANSWER_BYTES_MAX:
                        raise RejectedError(f"the platform answered more than {ANSWER_BYTES_MAX:,} bytes")
            finally:
                await answer.aclose()
        except httpx.HTTPError as error:
            raise UnavailableError(f"the platform did not answer ({type(error).__name__})") from None
        return _Answer(answer.status_code, answer.headers.get("content-type", ""), bytes(received))


def find_endpoint(settings: Settings) -> tuple[str, str]:
    """Return the URL of the platform's server, and the audience of its identity tokens: "" for one that is none of ours."""
    if settings.platform_endpoint:
        return settings.platform_endpoint, ""
    address = settings.function_urls.get(PLATFORM_FUNCTION, "")
    return address.rstrip("/") + MCP_PATH, address


def _read_result(text: bytes) -> Mapping[str, Any]:
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        raise RejectedError("the platform answered no JSON") from None
    if not isinstance(answer, Mapping) or answer.get("id") != 1:
        raise RejectedError("the platform answered another request")
    if isinstance(error := answer.get("error"), Mapping):
        raise RejectedError(f"the platform refused: {error.get('message')}")
    if not isinstance(result := answer.get("result"), Mapping):
        raise RejectedError("the platform's answer has no result")
    return result

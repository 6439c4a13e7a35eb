"""The server: one endpoint that speaks both revisions of MCP, and what protects it."""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from emulator.clock import EmulatorClock
from emulator.internet.mcp.answering import Answering
from emulator.internet.mcp.messages import McpRefusedError, Message, build_answer, send, stream
from emulator.internet.mcp.modern import check_headers
from emulator.internet.mcp.revisions import INVALID, LEGACY, MODERN, PARSE, VERSION, VERSION_UNKNOWN
from emulator.internet.mcp.rules import McpRules
from emulator.web import Receive, Scope, Send

METADATA = "/.well-known/oauth-protected-resource"
SESSION = "mcp-session-id"

IsValid = Callable[[str, str, str], bool]
"""Whether a token of the server at a host is good now for a resource."""


class SimulatedMcpServer:
    """An ASGI application; `rules` may be changed while it serves."""

    def __init__(self, host: str, rules: McpRules, clock: EmulatorClock, is_valid: IsValid) -> None:
        self.host = host
        self.rules = rules
        self._is_valid = is_valid
        self._answering = Answering(host, clock)
        self._sessions: dict[str, Message] = {}
        self._counts: Counter[str] = Counter()
        self._app = Starlette(routes=[Route("/{path:path}", self._serve, methods=["GET", "POST", "DELETE"])])

    async def __call__(self, scope: Scope, receive: Receive, send_: Send) -> None:
        await self._app(scope, receive, send_)

    @property
    def url(self) -> str:
        """The endpoint's URL, which is the resource that tokens are for."""
        return f"https://{self.host}{self.rules.path}"

    def report(self) -> dict[str, object]:
        """Return how often each method was asked for, the calls of tools in order, and the ids of tasks and sessions."""
        answering = self._answering
        return {
            "url": self.url,
            "counts": dict(self._counts),
            "calls": list(answering.calls),
            "answered": list(answering.answered),
            "tasks": list(answering.tasks),
            "sessions": list(self._sessions),
        }

    async def _serve(self, request: Request) -> Response:
        if self.rules.authorization and request.url.path in (METADATA, METADATA + self.rules.path):
            self._counts["resource metadata"] += 1
            return JSONResponse(self._describe_resource())
        if request.url.path != self.rules.path:
            return PlainTextResponse("not found", 404)
        if (refusal := self._find_refusal(request)) is not None:
            self._counts["401"] += 1
            return refusal
        if request.method == "DELETE" and self._sessions.pop(request.headers.get(SESSION, ""), None) is not None:
            self._counts["DELETE"] += 1
            return Response(status_code=204)
        if request.method != "POST":
            return PlainTextResponse("method not allowed", 405, headers={"Allow": "POST"})
        try:
            message = _read(await request.body())
        except ValueError as error:
            return send(McpRefusedError(PARSE, str(error)).as_json(None), status=400)
        try:
            return await self._answer(request, message)
        except McpRefusedError as refused:
            self._counts[f"refused {refused.code}"] += 1
            return send(refused.as_json(message.get("id")), status=refused.status)

    async def _answer(self, request: Request, message: Message) -> Response:
        method = message.get("method")
        if method is None and LEGACY in self.rules.revisions:
            self._answering.take_answer(message)
            return Response(status_code=202)
        if not isinstance(method, str):
            raise McpRefusedError(INVALID, "a message needs a method")
        self._counts[method] += 1
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        meta = params.get("_meta")
        version = meta.get(VERSION) if isinstance(meta, dict) else None
        if version is not None:
            return self._answer_modern(request, message, method, params, str(version))
        return self._answer_legacy(request, message, method, params)

    def _answer_modern(self, request: Request, message: Message, method: str, params: Message, version: str) -> Response:
        if MODERN not in self.rules.revisions:
            # as a server answers that has never heard of this revision
            return PlainTextResponse("Bad Request: no valid session", 400)
        if version != MODERN:
            supported = {"supported": list(self.rules.revisions), "requested": version}
            raise McpRefusedError(VERSION_UNKNOWN, "unsupported protocol version", data=supported)
        check_headers(request, method, params, self.rules)
        if "id" not in message:
            return Response(status_code=202)
        return self._send(message["id"], self._answering.answer_modern(self.rules, method, params))

    def _answer_legacy(self, request: Request, message: Message, method: str, params: Message) -> Response:
        if LEGACY not in self.rules.revisions:
            raise McpRefusedError(INVALID, "params._meta is missing")
        if method == "initialize":
            session = secrets.token_urlsafe(16)
            capabilities = params.get("capabilities")
            self._sessions[session] = capabilities if isinstance(capabilities, dict) else {}
            result = self._answering.initialize(self.rules)
            return send(build_answer(message.get("id"), result), {SESSION: session})
        known = self._sessions.get(request.headers.get(SESSION, ""))
        if known is None:
            raise McpRefusedError(INVALID, "the session is unknown", status=404)
        if "id" not in message:
            return Response(status_code=202)
        return self._send(message["id"], self._answering.answer_legacy(self.rules, method, params, known))

    def _send(self, number: object, results: AsyncIterator[Message]) -> Response:
        """Send what comes of a request: notifications and requests as they are, and the result, which has no `jsonrpc`."""

        async def write() -> AsyncIterator[Message]:
            try:
                async for item in results:
                    yield item if "jsonrpc" in item else build_answer(number, item)
            except McpRefusedError as refused:
                self._counts[f"refused {refused.code}"] += 1
                yield refused.as_json(number)

        return stream(write()) if self.rules.answers == "sse" else _LastMessage(write())

    def forget_sessions(self) -> None:
        """End all sessions, as a server does that was started again."""
        self._sessions.clear()

    def _find_refusal(self, request: Request) -> Response | None:
        for name, value in self.rules.headers.items():
            if not secrets.compare_digest(request.headers.get(name, "").encode(), value.encode()):
                return JSONResponse({"error": "the key is missing or wrong"}, 401)
        if not self.rules.authorization:
            return None
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        challenge = f'Bearer resource_metadata="https://{self.host}{METADATA}{self.rules.path}"'
        if self.rules.scope:
            challenge += f', scope="{self.rules.scope}"'
        if scheme.lower() != "bearer" or not self._is_valid(self.rules.authorization, token, self.url):
            error = ', error="invalid_token"' if token else ""
            return JSONResponse({"error": "invalid_token"}, 401, headers={"WWW-Authenticate": challenge + error})
        return None

    def _describe_resource(self) -> dict[str, object]:
        scopes = {"scopes_supported": self.rules.scope.split()} if self.rules.scope else {}
        return {"resource": self.url, "authorization_servers": [f"https://{self.rules.authorization}"], **scopes}


class _LastMessage(Response):
    """The last of some messages as JSON: a server that does not stream sends no other."""

    def __init__(self, messages: AsyncIterator[Message]) -> None:
        super().__init__()
        self._messages = messages

    async def __call__(self, scope: Scope, receive: Receive, send_: Send) -> None:
        last: Mapping[str, Any] = {}
        async for message in self._messages:
            last = message
        error = last.get("error")
        status = 404 if isinstance(error, dict) and error.get("code") == -32601 else 200
        await send(last, status=status)(scope, receive, send_)


def _read(body: bytes) -> dict[str, Any]:
    """Return the message; raise ValueError."""
    try:
        message = json.loads(body)
    except RecursionError:
        raise ValueError("the body is nested too deep") from None
    if not isinstance(message, dict):
        raise ValueError("the body is no object")
    return message

"""The API as the console asks it: its own routes, in this process, as the API key of the session.

An in-process request has the key's digest and the session's secret in its ASGI scope, where no client on a network can put
anything.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Scope

from ferryman.composition.api import ApiDependencies
from ferryman.domain.console_sessions.session import ConsoleSession
from ferryman.serving.api.access import KEY_DIGEST, SESSION_ENTRY, WORKSPACE_HEADER
from ferryman.serving.api.limits import REQUEST_S, take_turn

ONCE_CHARACTERS_MAX = 100

READS_WAITING_MAX = 300
"""How many reads of pages with one API key wait for their turn; one more is answered with 429."""

STREAM_MESSAGES_MAX = 16
"""How many parts of a stream wait for a slow reader; then its sender waits."""


class ApiProblemError(Exception):
    """The API refused: the HTTP `status` and the problem document (RFC 9457). `errors` has a field and a message for each."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.title = str(problem.get("title", ""))
        self.detail = str(problem.get("detail", ""))
        self.errors: list[dict[str, str]] = list(problem.get("errors", []))
        super().__init__(f"HTTP {status}")

    @property
    def by_field(self) -> dict[str, str]:
        """The message of each field that was refused, by its name."""
        return {str(error.get("field", "")): str(error.get("message", "")) for error in self.errors}


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiAnswer:
    """An answer below 400; `body` is None where it has none."""

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)

    @property
    def body(self) -> Any:
        """The JSON of the answer. Raises `ValueError` where it is another type."""
        return json.loads(self.content) if self.content else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiClient:
    """Asks `app` as the holder of the session's API key, where the session acts; `secret` is that of its cookie."""

    app: ASGIApp
    origin: Scope = field(repr=False)
    session: ConsoleSession = field(repr=False)
    secret: str = field(repr=False)

    async def get(self, path: str, **query: Any) -> Any:
        """Return the JSON of the answer to a GET. Raise `ApiProblemError` where the API refuses."""
        return (await self.ask("GET", path, query=query)).body

    async def post(self, path: str, body: Any = None, *, once: str = "", **query: Any) -> Any:
        """Return the JSON of the answer to a POST; `once` is its idempotency key. Raise `ApiProblemError`."""
        return (await self.ask("POST", path, query=query, body=body, headers=write_once(once))).body

    async def patch(self, path: str, body: Any) -> Any:
        """Return the JSON of the answer to a PATCH. Raise `ApiProblemError`."""
        return (await self.ask("PATCH", path, body=body)).body

    async def put(self, path: str, body: Any = None) -> Any:
        """Return the JSON of the answer to a PUT. Raise `ApiProblemError`."""
        return (await self.ask("PUT", path, body=body)).body

    async def delete(self, path: str, **query: Any) -> Any:
        """Return the JSON of the answer to a DELETE. Raise `ApiProblemError`."""
        return (await self.ask("DELETE", path, query=query)).body

    async def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        content: bytes | AsyncIterator[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ApiAnswer:
        """Return the answer; `content` is sent as it is, or as it comes, in the place of a JSON `body`.

        Raises `ApiProblemError`.
        """
        opened = self.open(method, path, query=query, body=body, content=content, headers=headers)
        async with self._take_turn(method), opened as (answer, parts):
            return ApiAnswer(status=answer.status, headers=answer.headers, content=b"".join([part async for part in parts]))

    def _take_turn(self, method: str) -> AbstractAsyncContextManager[None]:
        """Return the context that holds a turn while something is read; a change takes the API's own turn only."""
        if method != "GET":
            return nullcontext()
        deps: ApiDependencies = self.app.state.deps  # type: ignore[attr-defined] # the API has it
        return take_turn(deps.reads_of, self.session.digest, most=READS_WAITING_MAX, within_s=REQUEST_S, what="pages")

    @asynccontextmanager
    async def open(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        content: bytes | AsyncIterator[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[tuple[ApiAnswer, AsyncIterator[bytes]]]:
        """Yield the head of an answer and its parts as they come; the request is given up when the block ends.

        Raises `ApiProblemError` before anything is yielded.
        """
        source = content if content is not None else b"" if body is None else json.dumps(body).encode()
        pieces = None if isinstance(source, bytes) else source
        sent = source if isinstance(source, bytes) else None
        scope = self._build_scope(method, path, query or {}, sent, headers or {}, is_json=content is None and body is not None)
        messages: asyncio.Queue[Message] = asyncio.Queue(STREAM_MESSAGES_MAX)
        closed, is_sent = asyncio.Event(), False

        async def receive() -> Message:
            nonlocal is_sent
            if pieces is not None and not is_sent:
                try:
                    piece = await anext(pieces, None)
                except ClientDisconnect:
                    return {"type": "http.disconnect"}
                is_sent = piece is None
                return {"type": "http.request", "body": piece or b"", "more_body": not is_sent}
            if not is_sent:
                is_sent = True
                return {"type": "http.request", "body": sent, "more_body": False}
            await closed.wait()
            return {"type": "http.disconnect"}

        request = asyncio.ensure_future(_run(self.app, scope, receive, messages))
        try:
            start = await messages.get()
            if start["type"] != "http.response.start":
                await request  # raises what broke it
                raise RuntimeError("the API gave no answer")
            names = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in start["headers"]}
            answer = ApiAnswer(status=start["status"], headers=names, content=b"")
            parts = _read_parts(messages)
            if answer.status >= 400:
                text = b"".join([part async for part in parts])
                raise ApiProblemError(answer.status, json.loads(text) if text.startswith(b"{") else {})
            yield answer, parts
        finally:
            closed.set()
            request.cancel()
            await asyncio.gather(request, return_exceptions=True)

    def _build_scope(
        self, method: str, path: str, query: Mapping[str, Any], sent: bytes | None, headers: Mapping[str, str], *, is_json: bool
    ) -> Scope:
        pairs = [(name, _write_value(value)) for name, value in query.items() if value is not None and value != ""]
        # it opens nothing, and tells the sessions of several keys apart
        known = {"authorization": f"Session {self.session.digest}", **headers}
        known |= {"transfer-encoding": "chunked"} if sent is None else {"content-length": str(len(sent))}
        if is_json:
            known["content-type"] = "application/json"
        if self.session.workspace:
            known[WORKSPACE_HEADER] = self.session.workspace
        if (host := dict(self.origin["headers"]).get(b"host")) is not None:
            known["host"] = host.decode("latin-1")
        return {
            "type": "http",
            "asgi": self.origin["asgi"],
            "http_version": "1.1",
            "method": method,
            "scheme": self.origin.get("scheme", "http"),
            "path": path,
            "raw_path": quote(path).encode(),
            "query_string": urlencode(pairs).encode(),
            "root_path": "",
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in known.items()],
            "client": self.origin.get("client"),
            "server": self.origin.get("server"),
            "state": dict(self.origin.get("state", {})),
            KEY_DIGEST: self.session.digest,
            SESSION_ENTRY: self.secret,
        }


def write_once(once: str) -> dict[str, str]:
    """Return the header that has a change made once, whatever a form has in the place of the key that its page was given."""
    plain = "".join(character for character in once[:ONCE_CHARACTERS_MAX] if character.isascii() and character.isalnum())
    return {"Idempotency-Key": f'"{plain}"'} if plain else {}


async def ask_together(*requests: Awaitable[Any]) -> list[Any]:
    """Return the answers of requests that run at the same time. Raise the error of the first that fails."""
    answers = await asyncio.gather(*requests, return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return answers


async def _run(app: ASGIApp, scope: Scope, receive: Any, messages: asyncio.Queue[Message]) -> None:
    try:
        await app(scope, receive, messages.put)
    finally:
        if not asyncio.current_task().cancelling():  # type: ignore[union-attr] # it runs in a task
            await messages.put({"type": "end"})


async def _read_parts(messages: asyncio.Queue[Message]) -> AsyncIterator[bytes]:
    while (message := await messages.get())["type"] == "http.response.body":
        if message.get("body"):
            yield message["body"]
        if not message.get("more_body", False):
            return


def _write_value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

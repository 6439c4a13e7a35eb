"""A bridge from an MCP client that speaks over stdin and stdout to /mcp of the service: lines in, lines out, of both eras.

Each line that comes is a message, and is posted as it is. What is answered, in JSON or as an event stream, goes out as lines.
The bridge adds the headers that the protocol asks for, and the session of 2025; it changes no message.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any

import httpx

from ferryman.client.events import SILENCE_S
from ferryman.client.mcp_headers import build_message_headers, find_version, read_parameters
from ferryman.client.request import LIMITS, TIMEOUT_S, build_headers
from ferryman.client.trust import create_context

LINE_BYTES_MAX = 4_000_000
REQUESTS_MAX = 64
"""Requests that are under way; any further one waits."""

GRACE_S = 5.0
"""For how many seconds what is under way is waited for once the client has closed its end."""

ACCEPT = "application/json, text/event-stream"
SESSION = "Mcp-Session-Id"
PARSE_ERROR, INTERNAL_ERROR = -32700, -32603


class McpBridge:
    """One client's bridge. `write` is given each line that goes out, without its end."""

    def __init__(
        self, url: str, key: str, write: Callable[[str], None], *, agent: str | None = None, workspace: str | None = None
    ) -> None:
        headers = {**build_headers(key, workspace), "Accept": ACCEPT, "Content-Type": "application/json"}
        self._http = httpx.AsyncClient(
            base_url=url,
            headers=headers,
            params={} if agent is None else {"agent": agent},
            verify=create_context(),
            timeout=httpx.Timeout(TIMEOUT_S, read=SILENCE_S),
            limits=LIMITS,
            trust_env=False,
        )
        self._url, self._write = url, write
        self._turns = asyncio.Semaphore(REQUESTS_MAX)
        self._running: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._session: dict[str, str] = {}
        self._parameters: dict[str, Mapping[str, tuple[str, ...]]] = {}

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Pass on `lines` until they end; what is under way then has `GRACE_S` seconds."""
        try:
            async for line in lines:
                if line.strip():
                    await self._accept(line)
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=GRACE_S)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await self._http.aclose()

    async def _accept(self, line: bytes) -> None:
        try:
            message = json.loads(line) if len(line) <= LINE_BYTES_MAX else None
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            self._refuse(None, PARSE_ERROR, f"a line must be one JSON object of at most {LINE_BYTES_MAX:,} bytes")
            return
        if message.get("method") == "notifications/cancelled":
            self._cancel(message)
            if find_version(message) is not None or not self._session:
                return  # leaving is what cancels; a session of 2025 is told besides
        task = asyncio.create_task(self._send(line.strip(), message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if "id" in message and "method" in message:
            name = _name_request(message["id"])
            self._running[name] = task
            task.add_done_callback(lambda ended: self._running.pop(name, None) if self._running.get(name) is ended else None)
        if message.get("method") == "initialize":
            await asyncio.wait({task})  # what comes after it is of the session that it begins

    def _cancel(self, message: Mapping[str, Any]) -> None:
        """Leave the request that the notification names: its connection is closed, and it is not answered."""
        params = message.get("params")
        task = self._running.get(_name_request(params.get("requestId"))) if isinstance(params, Mapping) else None
        if task is not None:
            task.cancel()

    async def _send(self, line: bytes, message: Mapping[str, Any]) -> None:
        number = message.get("id") if "method" in message else None
        try:
            async with self._turns:
                await self._post(line, message)
        except httpx.HTTPError as error:
            if number is not None:
                self._refuse(number, INTERNAL_ERROR, f"{self._url} could not be reached ({type(error).__name__})")

    async def _post(self, line: bytes, message: Mapping[str, Any]) -> None:
        version = find_version(message)
        headers = self._session if version is None else build_message_headers(message, version, self._parameters)
        if message.get("method") == "initialize":
            self._session = headers = {}
        async with self._http.stream("POST", "/mcp", content=line, headers=headers) as answer:
            if answer.headers.get("content-type", "").startswith("text/event-stream"):
                async for data in _read_events(answer):
                    self._pass_on(data, message, answer)
                return
            content = await answer.aread()
        number = message.get("id") if "method" in message else None
        if not self._pass_on(content, message, answer) and number is not None:
            self._refuse(number, INTERNAL_ERROR, f"{self._url} answered HTTP {answer.status_code} without a message")

    def _pass_on(self, data: bytes, message: Mapping[str, Any], answer: httpx.Response) -> bool:
        """Write a message of the service as a line; return whether it was one, that is for this client."""
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return False
        if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
            return False
        if "method" not in value:
            if "id" not in message or "method" not in message:
                return False  # nobody waits for the answer to a notification
            self._learn(message, value.get("result"), answer)
        if "method" not in value and value.get("id") is None:
            # the service refused it before it read its id
            self._write(json.dumps({**value, "id": message["id"]}))
        else:
            self._write(data.decode() if b"\n" not in data.strip() else json.dumps(value))
        return True

    def _learn(self, message: Mapping[str, Any], result: Any, answer: httpx.Response) -> None:
        """Remember what later requests need: the session of 2025, and the arguments that headers repeat."""
        if message["method"] == "initialize" and isinstance(result, Mapping):
            self._session = {"MCP-Protocol-Version": str(result.get("protocolVersion", ""))}
            if SESSION in answer.headers:
                self._session[SESSION] = answer.headers[SESSION]
        elif message["method"] == "tools/list":
            self._parameters.update(read_parameters(result))

    def _refuse(self, number: object, code: int, text: str) -> None:
        self._write(json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}))


def _name_request(number: object) -> str:
    """Return the id of a request so that 1 and "1" are two."""
    return json.dumps(number)


async def _read_events(answer: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the data of the events of a stream. Lines end with a line feed alone: a message may hold any other break."""
    data, rest = bytearray(), b""
    with suppress(httpx.RemoteProtocolError):  # a stream that broke off has nothing further
        async for part in answer.aiter_bytes():
            *lines, rest = (rest + part).split(b"\n")
            for raw in lines:
                line = raw.removesuffix(b"\r")
                if line.startswith(b"data:"):
                    data += line[5:].removeprefix(b" ")
                elif not line and data:
                    yield bytes(data)
                    data = bytearray()

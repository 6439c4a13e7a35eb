"""A transport of our client to real servers on 127.0.0.1, which the gate does not reach; it feeds readers as the gate does."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.ports.gate import ResponseReader
from ferryman.tools.mcp.protocol import HttpMessage


@dataclass
class LoopbackTransport:
    """Sends messages to `url`; it notes the methods of those that have one, and GET."""

    client: httpx.AsyncClient
    url: str
    methods: list[str] = field(default_factory=list)

    async def exchange(self, message: HttpMessage, reader: ResponseReader) -> bool:
        self.methods.append("GET" if message.body is None else message.body.get("method", "response"))
        content = None if message.body is None else json.dumps(message.body).encode()
        headers = {"content-type": "application/json", **message.headers}
        room = message.bytes_max
        try:
            async with self.client.stream(
                message.method.value, self.url, headers=headers, content=content, timeout=message.idle_s
            ) as response:
                if not await reader.begin(response.status_code, response.headers.multi_items()):
                    return True
                async for part in response.aiter_bytes():
                    if not await reader.feed(part[:room]):
                        return True
                    room -= len(part)
                    if room < 0:
                        return False
        except httpx.TimeoutException:
            raise CallRefusedError(refusal.report_timeout(message.idle_s)) from None
        except httpx.HTTPError:
            raise CallRefusedError(refusal.report_failure("the connection broke")) from None
        return True


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[LoopbackTransport]:
    """Yield a transport to `url`."""
    async with httpx.AsyncClient(trust_env=False) as client:
        yield LoopbackTransport(client, url)

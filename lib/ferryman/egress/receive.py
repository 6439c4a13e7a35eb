"""Receiving of one response: all of it within its limit, or fed to a reader part by part as it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field

import h11
import httpcore
import httpx

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.http.request import InboundResponse
from ferryman.egress.body import ResponseBody
from ferryman.egress.checking import finish_body
from ferryman.ports.gate import ResponseReader

END_S = 0.05
"""For how long the end of a response is waited for whose reader has enough: most often it arrives with the last part, and then
its connection may be used again."""

END_BYTES_MAX = 1_024
"""What may come before that end, which is not read any more: a comment, or an empty event."""


@dataclass(frozen=True, slots=True)
class ResponseFeed:
    """Who reads a response as it arrives, and how many seconds may pass between two parts of it; None: as the call has."""

    reader: ResponseReader = field(repr=False)
    idle_s: float | None = None


async def receive(response: httpx.Response, body_max: int, owner: str, feed: ResponseFeed | None = None) -> InboundResponse:
    """Return the response with at most `body_max` decoded bytes of its body: without it where `feed` reads it.

    Raise `CallRefusedError` if it does not decode, and where the reader does; TimeoutError where nothing comes for too long.
    """
    body = ResponseBody(response.headers.get("content-encoding", ""), body_max)
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw)
    assert isinstance(response.stream, httpx.AsyncByteStream), "a response of a connection"
    async with aclosing(response.stream.__aiter__()) as chunks:  # type: ignore[type-var] # it is a generator
        if feed is None:
            await _collect(chunks, body)
            body = await finish_body(owner, body)
        elif not await feed.reader.begin(response.status_code, headers):
            await _await_end(chunks)
        elif await _feed(chunks, body, feed):
            body = await finish_body(owner, body)
            if last := body.take():
                await feed.reader.feed(last)
        else:
            await _await_end(chunks)
    return InboundResponse(
        status=response.status_code,
        headers=headers,
        body=body.content if feed is None else b"",
        size_bytes=_read_declared_size(response, body.received) if body.is_cut else body.received,
        cut=body.is_cut,
    )


async def _collect(chunks: AsyncIterator[bytes], body: ResponseBody) -> None:
    async for chunk in chunks:
        for _ in body.steps(chunk):
            await asyncio.sleep(0)  # let others run
        if not body.is_open:
            break


async def _feed(chunks: AsyncIterator[bytes], body: ResponseBody, feed: ResponseFeed) -> bool:
    """Pass the parts on, and tell whether the reader still wants more at the end of the body: there may be more to decode."""
    while True:
        try:
            async with asyncio.timeout(feed.idle_s):
                chunk = await anext(chunks)
        except StopAsyncIteration:
            return True
        except TimeoutError:
            raise CallRefusedError(refusal.report_timeout(feed.idle_s or 0.0)) from None
        for _ in body.steps(chunk):
            if not await feed.reader.feed(body.take()):
                return False
            await asyncio.sleep(0)  # let others run
        if (part := body.take()) and not await feed.reader.feed(part):
            return False
        if not body.is_open:
            return True


async def _await_end(chunks: AsyncIterator[bytes]) -> None:
    """Wait for the end of a body that nobody reads, briefly."""
    room = END_BYTES_MAX
    with suppress(TimeoutError, h11.ProtocolError, httpcore.NetworkError, OSError):  # the response is read, whatever follows
        async with asyncio.timeout(END_S):
            async for chunk in chunks:
                room -= len(chunk)
                if room < 0:
                    return


def _read_declared_size(response: httpx.Response, read: int) -> int:
    """Return the size in bytes that the peer announced, for a response of which reading stopped early (S0-120)."""
    text = response.headers.get("content-length", "")
    return max(read, int(text)) if text.isascii() and text.isdigit() and len(text) < 16 else read

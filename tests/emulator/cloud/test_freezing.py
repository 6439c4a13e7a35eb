"""A function runs while a request is open, and is frozen once none is; what passes is what was sent."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator

import httpx
import pytest

from emulator import freezing
from emulator.freezing import BEHIND, RequestFront
from emulator.web import listen, port_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the whole of 127/8 on its loopback")


class Function:
    """A function behind its front: it answers with what it was sent, once it may."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.frozen, self.may_answer, self.has_lost = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.may_answer.set()
        self.received = b""

    def freeze(self) -> None:
        self.calls.append("freeze")
        self.frozen.set()

    def thaw(self) -> None:
        self.calls.append("thaw")
        self.frozen.clear()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.received = await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n")
        waiting, leaving = asyncio.create_task(self.may_answer.wait()), asyncio.create_task(reader.read())
        await asyncio.wait([waiting, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            self.has_lost.set()
        leaving.cancel()
        waiting.cancel()
        writer.write(b"4\r\nlast\r\n0\r\n\r\n")
        writer.close()


@pytest.fixture
async def function(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Function, str]]:
    monkeypatch.setattr(freezing, "FREEZES_S", 0)
    function, sock = Function(), listen()
    front = RequestFront(sock, freeze=function.freeze, thaw=function.thaw)
    async with await asyncio.start_server(function.answer, BEHIND, port_of(sock)):
        await front.start()
        yield function, f"http://127.0.0.1:{port_of(sock)}"
        front.close()


async def test_it_runs_for_a_request_and_is_frozen_after_it(function: tuple[Function, str]) -> None:
    double, url = function
    async with httpx.AsyncClient() as http:
        for _ in range(2):
            answer = await http.get(f"{url}/path?a=1", headers={"x-name": "value"})
            assert (answer.status_code, answer.text) == (200, "firstlast")
            await double.frozen.wait()
    assert double.calls == ["thaw", "freeze", "thaw", "freeze"]
    assert double.received.startswith(b"GET /path?a=1 HTTP/1.1\r\n")
    assert b"x-name: value" in double.received
    assert url.removeprefix("http://").encode() in double.received


async def test_it_runs_until_the_last_of_several_has_ended(function: tuple[Function, str]) -> None:
    double, url = function
    double.may_answer.clear()
    async with httpx.AsyncClient() as http, http.stream("GET", url) as slow:
        parts = slow.aiter_text()
        assert await anext(parts) == "first"
        double.may_answer.set()
        await http.get(url)
        assert [part async for part in parts] == ["last"]
    await double.frozen.wait()
    assert double.calls[-1] == "freeze"


async def test_a_client_that_leaves_closes_its_request(function: tuple[Function, str]) -> None:
    double, url = function
    double.may_answer.clear()
    async with httpx.AsyncClient() as http, http.stream("GET", url) as slow:
        await anext(slow.aiter_text())
    await double.has_lost.wait()
    await double.frozen.wait()


async def test_one_that_nobody_asks_is_frozen(function: tuple[Function, str]) -> None:
    double = function[0]
    with listen() as sock:
        RequestFront(sock, freeze=double.freeze, thaw=double.thaw).rest()
        await double.frozen.wait()
    assert double.calls == ["freeze"]

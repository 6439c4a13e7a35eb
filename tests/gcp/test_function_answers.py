"""Answers of functions without keys on the wire: bounded, and never decoded from a content coding."""

from __future__ import annotations

import gzip
import json
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response

from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.gcp.functions import ANSWER_BYTES_MAX, FunctionClient
from ferryman.gcp.http import HttpClient
from ferryman.gcp.remote import RemoteTools
from ferryman.ports.errors import RejectedError, UnavailableError


class Served(HttpClient):
    """A client whose one server gives one answer."""

    def __init__(self, content: bytes, **about: Any) -> None:
        super().__init__(local=True)

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await Request(scope, receive).body()
            await Response(content, **about)(scope, receive, send)

        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(app))


async def ask(content: object, **about: Any) -> KeylessAnswer:
    async def token(_: str) -> str:
        return "t"

    served = Served(content if isinstance(content, bytes) else json.dumps(content).encode(), **about)
    return await RemoteTools(FunctionClient(served, {"web": "http://web.test"}, token)).ask("web", {})


async def test_an_answer_is_read() -> None:
    assert await ask({"content": "a", "code": None}) == KeylessAnswer("a")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"[" * 100_000, b"\xff", {"content": 1, "code": None}])
async def test_what_is_no_answer_is_rejected(content: object) -> None:
    with pytest.raises(RejectedError, match="web returned an invalid answer"):
        await ask(content)


async def test_an_answer_above_the_limit_is_rejected() -> None:
    with pytest.raises(RejectedError, match="more than 4,194,304 bytes"):
        await ask({"content": "a" * ANSWER_BYTES_MAX, "code": None})


async def test_a_content_coding_is_not_undone() -> None:
    coded = gzip.compress(json.dumps({"content": "a", "code": None}).encode())
    with pytest.raises(RejectedError, match="invalid answer"):
        await ask(coded, headers={"content-encoding": "gzip"})


async def test_another_status_is_no_answer() -> None:
    with pytest.raises(UnavailableError, match="web answered 503"):
        await ask({"content": "a", "code": None}, status_code=503)

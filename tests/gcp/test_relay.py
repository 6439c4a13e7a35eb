"""A delivery that is relayed: the orchestrator's lines become turns under way, however the bytes arrive."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest

from ferryman.domain.conversations.changes import write_change
from ferryman.domain.conversations.live import LiveBlock, LiveTurn
from ferryman.gcp import functions
from ferryman.gcp.functions import FunctionClient
from ferryman.gcp.http import HttpClient
from ferryman.gcp.relay import RemoteRelay
from ferryman.ports.errors import UnavailableError
from tests.builders import build_execution

TURNS = [LiveTurn(event=2, blocks=(LiveBlock(text),)) for text in ("In ", "In Hárwich", "In Hárwich.")]


class Orchestrator(HttpClient):
    """A client whose one server answers with these parts, and breaks off after them where that is asked for."""

    def __init__(self, parts: Sequence[bytes], *, status: int = 200, breaks_off: bool = False) -> None:
        super().__init__(local=True)
        self.requests: list[Any] = []

        async def body() -> AsyncIterator[bytes]:
            for part in parts:
                yield part
            if breaks_off:
                raise httpx.ReadError("reset")

        def handle(request: httpx.Request) -> httpx.Response:
            self.requests.append((request.url.path, json.loads(request.content)))
            return httpx.Response(status, content=body())

        self._client = httpx.AsyncClient(transport=httpx.MockTransport(handle))


def write_lines() -> bytes:
    changes = [write_change(before, after) for before, after in zip([None, *TURNS], TURNS, strict=False)]
    return b"\n".join(json.dumps(line).encode() for line in [{"committed": 1}, *changes, {"committed": 2}]) + b"\n\n"


async def deliver(orchestrator: Orchestrator) -> list[LiveTurn | None]:
    async def token(_: str) -> str:
        return "t"

    client = FunctionClient(orchestrator, {"orchestrator": "http://orchestrator.test"}, token)
    return [turn async for turn in RemoteRelay(client).deliver(build_execution(slice=3))]


@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_turns_come_as_they_were_shown(size: int) -> None:
    lines = write_lines()
    orchestrator = Orchestrator([lines[start : start + size] for start in range(0, len(lines), size)])
    assert await deliver(orchestrator) == [None, *TURNS, None]
    assert orchestrator.requests == [("/stream", {"execution": "e", "slice": 3})]


@pytest.mark.parametrize("line", [b"{", b"[]", b'"committed"', b'{"event": 2}', b"[" * 10_000, b"\xff"])
async def test_a_line_that_is_none_breaks_the_relay(line: bytes) -> None:
    with pytest.raises(UnavailableError, match="a line that is none"):
        await deliver(Orchestrator([line + b"\n"]))


async def test_a_line_without_an_end_breaks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "LINE_BYTES_MAX", 100)
    with pytest.raises(UnavailableError, match="more than 100 bytes"):
        await deliver(Orchestrator([b"a" * 60, b"a" * 60]))


@pytest.mark.parametrize(
    ("orchestrator", "reason"),
    [
        (Orchestrator([], status=503), "answered 503"),
        (Orchestrator([b"\n"], breaks_off=True), "did not answer"),
    ],
)
async def test_an_orchestrator_that_is_not_there_breaks_it(orchestrator: Orchestrator, reason: str) -> None:
    with pytest.raises(UnavailableError, match=reason):
        await deliver(orchestrator)

"""The taps: where the sink is let into a test process. Everything does what it did; what comes out is kept as well."""

from __future__ import annotations

import asyncio
import logging
import subprocess
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

import click.testing
import httpx
import pytest

from ferryman.egress.gate import EgressGate
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.model import ScriptedModel
from tests.canaries.sink import Sink, append, fault, watch

API = ("/v1/", "/openapi.json", "/healthz")
"""The paths whose answers are the product's own; the local cloud's admin shows what upstreams received, keys included."""


def open_all() -> None:
    """Let the sink in, once for the process."""
    root = logging.getLogger()
    root.setLevel(logging.DEBUG)
    root.addHandler(Sink())
    RecordingLog.line = _with_fields(RecordingLog.line)  # type: ignore[method-assign] # a tap
    watch(EgressGate, "send", lambda result, *_: [asdict(result)], "results")
    watch(ScriptedModel, "reply", lambda _, model, *__: [asdict(model.prompts[-1])], "prompts")
    watch(click.testing.CliRunner, "invoke", lambda result, *_: [result.output, repr(result.exception)], "shell")
    watch(subprocess.Popen, "communicate", lambda output, *_: [item for item in output if item], "shell")
    watch(asyncio.subprocess.Process, "communicate", lambda output, *_: [entry for entry in output if entry], "shell")
    _provoked()
    _answers()


def _with_fields(line: Any) -> Any:
    def traced(log: RecordingLog, event: str, **fields: Any) -> None:
        line(log, event, **fields)
        append("lines", {event: fields})

    return traced


def _provoked() -> None:
    """Keep the errors that `pytest.raises` expected, which no log has."""
    leave = pytest.RaisesExc.__exit__

    def leaving(self: Any, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if error is not None:
            fault(error)
        return leave(self, kind, error, trace)

    pytest.RaisesExc.__exit__ = leaving  # type: ignore[method-assign] # a tap


class _Heard(httpx.AsyncByteStream):
    """A body that is kept as it is read."""

    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            append("answers", part)
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def _answers() -> None:
    """Keep the answers of the API to any client of httpx, streams too."""
    send = httpx.AsyncClient.send

    async def sending(self: httpx.AsyncClient, request: httpx.Request, *, stream: bool = False, **named: Any) -> httpx.Response:
        response = await send(self, request, stream=stream, **named)
        if request.url.scheme == "http" and request.url.path.startswith(API):
            append("answers", f"{response.status_code} {response.headers.multi_items()}")
            if not stream:
                append("answers", response.content)
            elif isinstance(response.stream, httpx.AsyncByteStream):
                response.stream = _Heard(response.stream)
        return response

    httpx.AsyncClient.send = sending  # type: ignore[method-assign] # a tap

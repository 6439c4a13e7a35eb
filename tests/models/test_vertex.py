"""Vertex AI: the SDK's own client for it, over TLS, with an identity from a metadata server, as a function has one."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anthropic
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from emulator.clock import EmulatorClock
from emulator.identity.metadata import metadata_app
from emulator.identity.tokens import IdentityTokens
from emulator.internet.authority import Authority
from emulator.messages.reply import message, split_stream, stream
from emulator.messages.script import read_script
from emulator.web import Web, port_of
from ferryman.models.anthropic import AnthropicModel
from ferryman.models.request import VERTEX_VERSION
from ferryman.settings import Settings

MODEL = "claude-haiku-4-5@20251001"
PATH = f"/v1/projects/a-project/locations/europe-west1/publishers/anthropic/models/{MODEL}:streamRawPredict"
CALL = {"id": "toolu_1", "name": "http_get", "input": {"url": "https://a.test/é", "n": [1, 2.5, None]}}
THINKING = {"type": "thinking", "thinking": "Let me see: é, 你好, and more than one event of it.", "signature": "c2ln"}
STEP = {"blocks": [THINKING], "text": "I look. " * 400, "tool_calls": [CALL], "usage": {"input_tokens": 11, "output_tokens": 7}}

# as an instance of a function does it: the identity is looked for in the environment when the process starts
ASK = """
import asyncio, json
from ferryman.domain.executions.message import Prompt
from ferryman.models.anthropic import AnthropicModel
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.settings import Settings

async def main():
    model = AnthropicModel(Settings(project="a-project", vertex_region="europe-west1"))
    prompt = Prompt(model="{model}", system="s", messages=({{"role": "user", "content": "x"}},), max_tokens=100)
    for _ in range({times}):
        try:
            reply = await model._reply(prompt)
            usage = [reply.usage.input_tokens, reply.usage.output_tokens]
            print(json.dumps({{"content": reply.content, "stop_reason": reply.stop_reason, "usage": usage}}))
        except (RejectedError, UnavailableError) as error:
            print(json.dumps({{"error": type(error).__name__, "text": str(error), "lost": error.lost}}))
    await model.close()

asyncio.run(main())
"""


@dataclass
class Vertex:
    """A double of Vertex AI: what it was asked, and of each answer the status and how many pieces it sends; None is all."""

    requests: list[tuple[Request, Any]] = field(default_factory=list)
    answers: list[tuple[int, int | None]] = field(default_factory=list)

    async def answer(self, request: Request) -> StreamingResponse:
        body = await request.json()
        self.requests.append((request, body))
        (step,) = read_script("vertex", {"steps": [STEP]})
        whole = message(step, {**body, "model": MODEL}, "msg_vrtx_1")
        status, pieces = self.answers.pop(0) if self.answers else (200, None)
        return StreamingResponse(self._iterate(whole, pieces), status, media_type="text/event-stream")

    async def _iterate(self, whole: Any, pieces: int | None) -> AsyncIterator[bytes]:
        for piece in [*split_stream(stream(whole))][:pieces]:
            yield piece


@pytest.fixture
async def vertex(tmp_path: Path) -> AsyncIterator[tuple[Vertex, dict[str, str]]]:
    """Yield Vertex AI, and the environment of a process that reaches it in Google's place."""
    double, authority = Vertex(), Authority(tmp_path / "authority")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.issue("localhost"))
    secure, plain = Web(context), Web()
    sock = secure.add(Starlette(routes=[Route("/{path:path}", double.answer, methods=["POST"])]))
    tokens = IdentityTokens(path=None, clock=EmulatorClock())
    metadata = plain.add(metadata_app(tokens, "orchestrator@a-project.iam.gserviceaccount.com", "a-project"))
    await secure.start()
    await plain.start()
    host = f"127.0.0.1:{port_of(metadata)}"
    yield (
        double,
        {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),  # without anybody's own credentials of Google
            "SSL_CERT_FILE": str(authority.path),
            "ANTHROPIC_VERTEX_BASE_URL": f"https://localhost:{port_of(sock)}/v1",
            "GCE_METADATA_HOST": host,
            "GCE_METADATA_IP": host,
            "GCE_METADATA_TIMEOUT": "600",  # a slow machine has an identity, too
        },
    )
    await secure.close()
    await plain.close()


async def ask(environment: dict[str, str], times: int = 1) -> list[Any]:
    """Return what a process of its own was replied."""
    program = ASK.format(model=MODEL, times=times)
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", program, env=environment, stdout=asyncio.subprocess.PIPE)
    out, _ = await child.communicate()
    return [json.loads(line) for line in out.splitlines()]


def test_the_sdk_finds_the_host_of_a_region_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_VERTEX_BASE_URL", raising=False)
    client = AnthropicModel(Settings(project="a-project", vertex_region="europe-west1")).find_client(MODEL)
    assert isinstance(client, anthropic.AsyncAnthropicVertex)
    assert str(client.base_url) == "https://europe-west1-aiplatform.googleapis.com/v1/"


async def test_a_reply_streams_whole_with_an_identity_that_is_fetched_once(vertex: Any) -> None:
    double, environment = vertex
    replies = await ask(environment, times=2)
    call = {"type": "tool_use", **CALL}
    content = [THINKING, {"type": "text", "text": STEP["text"]}, call]
    assert replies == [{"content": content, "stop_reason": "tool_use", "usage": [11, 7]}] * 2
    (first, body), (second, _) = double.requests
    assert (first.url.path, first.url.scheme) == (PATH, "https")
    assert (body["anthropic_version"], body["stream"], "model" in body) == (VERTEX_VERSION, True, False)
    assert first.headers["authorization"].startswith("Bearer local.")
    assert first.headers["authorization"] == second.headers["authorization"]
    assert "x-api-key" not in first.headers


async def test_what_is_no_reply_says_whether_it_may_have_been_paid_for(vertex: Any) -> None:
    double, environment = vertex
    broken_off, busy, forbidden = (200, 2), (429, None), (403, None)
    double.answers = [broken_off, busy, forbidden]
    answers = [(answer["error"], answer["lost"]) for answer in await ask(environment, times=3)]
    assert answers == [("UnavailableError", True), ("UnavailableError", False), ("RejectedError", False)]
    assert len(double.requests) == 3


async def test_without_an_identity_nothing_is_sent(vertex: Any, tmp_path: Path) -> None:
    double, environment = vertex
    file = tmp_path / "key.json"
    file.write_text("{}")
    (answer,) = await ask({**environment, "GOOGLE_APPLICATION_CREDENTIALS": str(file)})
    assert answer["error"] == "UnreachedError"
    assert double.requests == []

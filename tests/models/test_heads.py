"""Heads of requests: what the SDK built once serves the requests that follow, for a while."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import httpx2
import pytest

from emulator.messages import Messages
from emulator.web import Web, port_of
from ferryman.domain.executions.message import Prompt
from ferryman.models.anthropic import AnthropicModel
from ferryman.models.heads import HEAD_S, HEADS_MAX, RequestHead, RequestHeads
from ferryman.ports.errors import RejectedError, UnreachedError
from ferryman.settings import Settings

PROMPT = Prompt(model="scripted/play", system="s", messages=({"role": "user", "content": "x"},), max_tokens=100)
REQUEST = httpx2.Request(
    "POST", "https://a.test/v1", headers={"X-Api-Key": "the key"}, content=b"12345", extensions={"timeout": {"read": 600.0}}
)
HEAD = RequestHead.from_request(REQUEST)


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@asynccontextmanager
async def serving(heads: list[bytes], *, knows: Iterable[bool] = ()) -> AsyncIterator[str]:
    """Yield the address of a scripted service behind a relay that notes the head of each request.

    `knows` says of each request whether its token is still known; of those after it is.
    """
    known = iter(knows)
    messages, web = Messages(lambda key: key == "the token" and next(known, True)), Web()
    messages.put("play", {"steps": [{"text": "hi"}] * 8})
    sock = web.add(messages)
    await web.start()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", port_of(sock))
        head = await reader.readuntil(b"\r\n\r\n")
        heads.append(head)
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        ours, theirs = (b"127.0.0.1:%d" % port for port in (server.sockets[0].getsockname()[1], port_of(sock)))
        passed_on = head.replace(ours, theirs).replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
        to_writer.write(passed_on + await reader.readexactly(length))
        writer.write(await to_reader.read())
        writer.close()
        to_writer.close()

    try:
        async with await asyncio.start_server(relay, "127.0.0.1", 0) as server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        await web.close()


@pytest.fixture
def heads() -> list[bytes]:
    return []


def connect(url: str, token: str = "the token") -> AnthropicModel:
    return AnthropicModel(Settings(scripted_model_url=url, local_token=token))


async def test_a_later_request_is_sent_with_the_head_that_the_sdk_built(heads: list[bytes]) -> None:
    async with serving(heads) as url:
        model = connect(url)
        assert [(await model.reply(PROMPT)).text for _ in range(2)] == ["hi", "hi"]
        await model.close()
    first, second = (sorted(head.lower().split(b"\r\n")) for head in heads)
    assert first == second


async def test_the_sdk_builds_one_request_of_many(heads: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(heads) as url:
        model = connect(url)
        await model.warm()
        client, built = model.find_client(PROMPT.model), 0
        post = client.post

        async def count(*arguments: object, **named: object) -> object:
            nonlocal built
            built += 1
            return await post(*arguments, **named)

        monkeypatch.setattr(client, "post", count)
        for _ in range(5):
            await model.reply(PROMPT)
        await model.close()
    assert (built, len(heads)) == (1, 5)


async def test_a_provider_that_is_gone_later_was_not_reached(heads: list[bytes]) -> None:
    async with serving(heads) as url:
        model = connect(url)
        await model.reply(PROMPT)
    with pytest.raises(UnreachedError, match="it refused the connection"):
        await model._reply(PROMPT)
    await model.close()


async def test_a_request_that_is_refused_leaves_no_head(heads: list[bytes]) -> None:
    async with serving(heads) as url:
        model = connect(url, token="another")
        for _ in range(2):
            with pytest.raises(RejectedError, match="401"):
                await model._reply(PROMPT)
        assert all(stored.find("/v1/messages") is None for stored in model._heads.values())
        await model.close()


async def test_a_head_that_is_refused_later_is_made_once_more(heads: list[bytes]) -> None:
    async with serving(heads, knows=[True, False]) as url:
        model = connect(url)
        assert [(await model.reply(PROMPT)).text for _ in range(3)] == ["hi", "hi", "hi"]
        await model.close()
    assert len(heads) == 4


async def test_a_credential_that_stays_refused_is_sent_twice(heads: list[bytes]) -> None:
    async with serving(heads, knows=[True, False, False]) as url:
        model = connect(url)
        await model.reply(PROMPT)
        with pytest.raises(RejectedError, match="401"):
            await model.reply(PROMPT)
        await model.close()
    assert len(heads) == 3


def test_a_head_is_kept_for_its_time() -> None:
    clock = Clock()
    heads = RequestHeads(clock)
    heads.keep("/v1", HEAD)
    clock.seconds = HEAD_S - 1
    assert heads.find("/v1") is HEAD
    clock.seconds = HEAD_S
    assert heads.find("/v1") is None


def test_a_head_is_of_its_path_and_can_be_dropped() -> None:
    heads = RequestHeads(Clock())
    heads.keep("/v1", HEAD)
    assert heads.find("/v2") is None
    heads.drop("/v1")
    assert heads.find("/v1") is None


def test_heads_of_many_paths_take_no_more_memory() -> None:
    heads = RequestHeads(Clock())
    for number in range(3 * HEADS_MAX):
        heads.keep(f"/{number}", HEAD)
    assert len(heads._heads) <= HEADS_MAX


def test_a_request_built_of_a_head_differs_in_its_body_alone() -> None:
    built = HEAD.build(b"123")
    assert (built.url, built.headers["x-api-key"], built.extensions) == (REQUEST.url, "the key", REQUEST.extensions)
    assert (built.headers["content-length"], built.content) == ("3", b"123")


def test_a_head_shows_no_key() -> None:
    assert "the key" not in repr(HEAD)

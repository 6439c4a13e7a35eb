"""Replies that are streamed at a pace, broken off and ended by the client, as the real SDK sees them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import httpx
import httpx2
import pytest

from emulator.messages import Messages
from emulator.messages.pacing import Pace, read_pace
from emulator.reading import InvalidRequestError
from emulator.web import Web, port_of

TEXT = "It rains in Harwich, and the ferry is late."
ASK: dict[str, Any] = {"model": "scripted/rain", "max_tokens": 100, "messages": [{"role": "user", "content": "Well?"}]}


@pytest.fixture
async def service() -> AsyncIterator[tuple[Messages, str]]:
    messages, web = Messages(lambda key: key == "planted-key"), Web()
    port = port_of(web.add(messages))
    await web.start()
    yield messages, f"http://127.0.0.1:{port}"
    await web.close()


def script(**stream: object) -> dict[str, Any]:
    return {"steps": [{"text": TEXT, "tool_calls": [{"name": "http_get", "input": {"n": [1, 2]}}], "stream": stream}]}


async def stream(url: str) -> list[str]:
    """Return the texts of the deltas, as the SDK has them. Raise as it does."""
    async with anthropic.AsyncAnthropic(base_url=url, api_key="planted-key", max_retries=0) as client:
        tools: Any = [{"name": "http_get", "input_schema": {"type": "object"}}]
        async with client.messages.stream(**ASK, tools=tools) as events:
            texts = [event.text async for event in events if event.type == "text"]
            await events.get_final_message()
            return texts


async def test_a_reply_comes_word_by_word(service: tuple[Messages, str]) -> None:
    messages, url = service
    messages.put("rain", script(delay_ms=0))
    texts = await stream(url)
    assert (len(texts), "".join(texts)) == (9, TEXT)


async def test_a_reply_comes_in_so_many_characters(service: tuple[Messages, str]) -> None:
    messages, url = service
    messages.put("rain", script(characters=2))
    texts = await stream(url)
    assert (max(map(len, texts)), "".join(texts)) == (2, TEXT)


async def test_a_ping_comes_after_so_many_deltas(service: tuple[Messages, str]) -> None:
    messages, url = service
    messages.put("rain", script(ping_every=3))
    async with httpx.AsyncClient(headers={"x-api-key": "planted-key", "anthropic-version": "2023-06-01"}) as client:
        answer = await client.post(f"{url}/v1/messages", json={**ASK, "stream": True, "tools": [TOOL]})
    kinds = [line.removeprefix("event: ") for line in answer.text.splitlines() if line.startswith("event: ")]
    assert kinds.count("ping") == 1 + kinds.count("content_block_delta") // 3


TOOL = {"name": "http_get", "input_schema": {"type": "object"}}


async def test_a_stream_breaks_off_as_often_as_the_script_says(service: tuple[Messages, str]) -> None:
    messages, url = service
    messages.put("rain", script(breaks_after=4, times=1))
    with pytest.raises(httpx2.RemoteProtocolError, match="incomplete"):
        await stream(url)
    assert "".join(await stream(url)) == TEXT
    assert [(request["deltas"], request.get("is_whole", False)) for request in messages.requests()] == [(4, False), (13, True)]


async def test_an_error_amid_a_stream_is_the_one_of_the_script(service: tuple[Messages, str]) -> None:
    messages, url = service
    messages.put("rain", script(breaks_after=2, error="overloaded_error"))
    with pytest.raises(anthropic.APIStatusError, match="overloaded_error"):
        await stream(url)


async def test_a_client_that_goes_ends_the_stream(service: tuple[Messages, str]) -> None:
    messages, url = service
    messages.put("rain", script(first_ms=0, delay_ms=60_000))
    async with (
        httpx.AsyncClient(headers={"x-api-key": "planted-key", "anthropic-version": "2023-06-01"}) as client,
        client.stream("POST", f"{url}/v1/messages", json={**ASK, "stream": True, "tools": [TOOL]}) as answer,
    ):
        async for line in answer.aiter_lines():
            if "text_delta" in line:
                assert json.loads(line.removeprefix("data: "))["delta"]["text"] == "It "
                break
    assert messages.requests()[-1]["deltas"] <= 1


@pytest.mark.parametrize(
    ("pace", "fault"),
    [
        ({"delay_ms": -1}, "delay_ms must be 0 to 60000"),
        ({"first_ms": 60_001}, "first_ms must be 0 to 60000"),
        ({"breaks_after": -1}, "breaks_after must be at least 0"),
        ({"slowly": True}, "slowly"),
    ],
)
def test_a_pace_that_is_none_is_refused(pace: dict[str, object], fault: str) -> None:
    with pytest.raises(InvalidRequestError, match=fault):
        read_pace(pace, "stream")


def test_a_pace_is_read_in_seconds() -> None:
    assert read_pace({"delay_ms": 20, "breaks_after": 0}, "stream") == Pace(delay_s=0.02, breaks_after=0)

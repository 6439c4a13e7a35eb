"""Sessions of 2025 that are ended, and streams that are resumed, in an application that keeps a log of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.serving.mcp.client import Answer, Client

from .application.serving import build_server


@pytest.fixture
async def client(tmp_path: Path) -> Client:
    client = Client(build_server(tmp_path, b"k" * 32, with_log=True))
    await client.initialize()
    return client


def read_ids(answer: Answer) -> list[str]:
    return [line.removeprefix("id: ") for line in answer.body.decode().splitlines() if line.startswith("id: ")]


async def test_a_stream_begins_with_an_event_to_come_back_to(client: Client) -> None:
    answer = await client.call_old("tools/call", {"name": "test_simple_text"})
    assert answer.body.startswith(b"id: 2:1\nretry: 200\ndata: \n\n")
    assert answer.messages[-1]["result"]["content"]


async def test_what_followed_the_end_of_the_connection_is_sent_to_whom_comes_back(client: Client) -> None:
    first = await client.call_old("tools/call", {"name": "test_reconnection"})
    (event,) = read_ids(first)
    again = await client.send(b"", {**client.old_headers, "Last-Event-ID": event}, verb="GET")
    assert again.messages[-1]["result"]["content"][0]["text"] == "The client has come back."


async def test_an_event_of_another_session_is_not_there(client: Client) -> None:
    await client.call_old("tools/call", {"name": "test_simple_text"})
    await client.initialize()
    assert (await client.send(b"", {**client.old_headers, "Last-Event-ID": "2:1"}, verb="GET")).status == 404


async def test_a_session_that_was_ended_is_404(client: Client) -> None:
    assert (await client.send(b"", client.old_headers, verb="DELETE")).status == 204
    assert (await client.call_old("tools/list")).status == 404


async def test_a_session_that_is_not_valid_ends_nothing(client: Client) -> None:
    assert (await client.send(b"", {"Mcp-Session-Id": "a.b"}, verb="DELETE")).status == 404
    assert (await client.call_old("tools/list")).status == 200


async def test_a_session_that_was_ended_cannot_be_ended_again(client: Client) -> None:
    await client.send(b"", client.old_headers, verb="DELETE")
    assert (await client.send(b"", client.old_headers, verb="DELETE")).status == 404


async def test_there_is_no_stream_without_an_event_to_come_back_to(client: Client) -> None:
    assert (await client.send(b"", client.old_headers, verb="GET")).status == 405

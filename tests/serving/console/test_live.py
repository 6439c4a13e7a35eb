"""Live pages: events of the API's stream, read from whatever pieces they come in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from ferryman.serving.api.errors import TooManyRequestsError
from ferryman.serving.console import live
from ferryman.serving.console.api_client import ApiProblemError
from ferryman.serving.console.cookies import NAME
from ferryman.serving.console.live import RelayedEvent, read_events, send_rendered
from tests.serving.conftest import Stage

from .conftest import Browser

STREAM = b': hello\n\nid: 1\nevent: turn\ndata: {"a": 1}\n\n: still here\n\nid: 2\ndata: {"b": "\\u00e9"}\n\n'
EVENTS = [RelayedEvent(id="1", kind="turn", data={"a": 1}), RelayedEvent(id="2", kind="message", data={"b": "é"})]


async def split(places: list[int]) -> AsyncIterator[bytes]:
    for start, end in zip([0, *places], [*places, len(STREAM)], strict=True):
        yield STREAM[start:end]


@given(places=st.lists(st.integers(0, len(STREAM)), max_size=8).map(sorted))
async def test_events_are_the_same_in_whatever_pieces_they_come(places: list[int]) -> None:
    assert [event async for event in read_events(split(places))] == EVENTS


def build_request(app: FastAPI, stage: Stage, browser: Browser) -> Any:
    """Return as much of a request of the browser's session as a stream asks for."""
    session = stage.memory.console_sessions[browser.http.cookies[NAME].split(".")[1]]
    return SimpleNamespace(request=SimpleNamespace(app=app), session=session)


async def test_who_has_seen_an_id_has_seen_all_that_its_event_brought(app: FastAPI, browser: Browser, stage: Stage) -> None:
    async def render(_: Sequence[RelayedEvent]) -> Mapping[str, Any]:
        return {"text": {}, "parts": {}}

    frames = [frame async for frame in send_rendered(build_request(app, stage, browser), read_events(split([])), render)]
    assert frames == ["event: text\ndata: {}\n\n", "id: 2\nevent: parts\ndata: {}\n\n"]


async def test_a_stream_ends_where_the_api_refuses_what_it_shows(app: FastAPI, browser: Browser, stage: Stage) -> None:
    async def render(_: Sequence[RelayedEvent]) -> Mapping[str, Any]:
        raise ApiProblemError(404, {})

    assert [frame async for frame in send_rendered(build_request(app, stage, browser), read_events(split([])), render)] == []


async def test_what_the_api_has_no_time_for_is_asked_for_again(
    app: FastAPI, browser: Browser, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "AGAIN_S", 0)
    refusals = [ApiProblemError(429, {}), TooManyRequestsError("too many pages", after_s=1)]

    async def render(_: Sequence[RelayedEvent]) -> Mapping[str, Any]:
        if refusals:
            raise refusals.pop()
        return {"parts": {}}

    events = read_events(split([]))
    assert len([frame async for frame in send_rendered(build_request(app, stage, browser), events, render)]) == 1


async def test_many_pages_of_one_owner_do_not_ask_at_once(app: FastAPI, browser: Browser, stage: Stage) -> None:
    under_way, counts = 0, []

    async def render(_: Sequence[RelayedEvent]) -> Mapping[str, Any]:
        nonlocal under_way
        under_way += 1
        counts.append(under_way)
        for _ in range(10):
            await asyncio.sleep(0)
        under_way -= 1
        return {}

    async def watch() -> None:
        async for _ in send_rendered(build_request(app, stage, browser), read_events(split([])), render):
            pass

    await asyncio.gather(*(watch() for _ in range(20)))
    assert (len(counts), max(counts)) == (20, 2)


async def test_nothing_more_is_sent_to_who_has_signed_out(app: FastAPI, browser: Browser, stage: Stage) -> None:
    async def render(_: Sequence[RelayedEvent]) -> Mapping[str, Any]:
        return {"parts": {}}

    request = build_request(app, stage, browser)
    await browser.send("/console", {"do": "sign-out"})
    assert [frame async for frame in send_rendered(request, read_events(split([])), render)] == []

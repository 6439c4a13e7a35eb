"""Rendering beside other requests: in threads, one page of an owner after the other."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI

from ferryman.serving.api.errors import TooManyRequestsError
from ferryman.serving.console.rendering import PAGES_WAITING_MAX, render_apart


@dataclass
class Meeting:
    """A page that waits, in its thread, for another one to be rendered at the same moment."""

    barrier: threading.Barrier = field(default_factory=lambda: threading.Barrier(2, timeout=0.2))

    def render(self) -> bool:
        try:
            self.barrier.wait()
        except threading.BrokenBarrierError:
            return False
        return True


def build_request(app: FastAPI, owner: str) -> Any:
    """Return as much of a request as rendering asks for."""
    return SimpleNamespace(request=SimpleNamespace(app=app), session=SimpleNamespace(owner=owner))


async def test_a_page_is_rendered_beside_the_event_loop(app: FastAPI) -> None:
    assert await render_apart(build_request(app, "ann"), threading.get_ident) != threading.get_ident()


async def test_pages_of_two_owners_are_rendered_at_once(app: FastAPI) -> None:
    meeting = Meeting(threading.Barrier(2, timeout=30))
    pages = (render_apart(build_request(app, owner), meeting.render) for owner in ("ann", "bob"))
    assert await asyncio.gather(*pages) == [True, True]


async def test_pages_of_one_owner_are_rendered_one_after_the_other(app: FastAPI) -> None:
    meeting = Meeting()
    pages = (render_apart(build_request(app, "ann"), meeting.render) for _ in range(2))
    assert await asyncio.gather(*pages) == [False, False]


async def test_a_flood_of_pages_of_one_owner_is_refused(app: FastAPI) -> None:
    request = build_request(app, "ann")
    pages = [asyncio.ensure_future(render_apart(request, str)) for _ in range(PAGES_WAITING_MAX)]
    await asyncio.sleep(0)
    with pytest.raises(TooManyRequestsError):
        await render_apart(request, str)
    await asyncio.gather(*pages)

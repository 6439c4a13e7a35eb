"""Journeys in a browser through the whole local stack: every function a process of its own, started as anyone would.

Playwright's calls block, and its loop runs in the thread of the tests: what is asynchronous here runs in another one.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

from ferryman.client import AsyncClient
from ferryman.gcp.clients import GoogleClients
from ferryman.stack import provision
from ferryman.stack.admin import Admin
from tests.browser.conftest import watch
from tests.browser.visits import Watch
from tests.journeys.conftest import Journey, create_owner, start_stack

WAITS_S = 120
"""Seconds after which a wait fails. No figure depends on it."""

ENVIRONMENT = {"FERRYMAN_LEASE_S": "6", "FERRYMAN_POLL_S": "0.1", "FERRYMAN_RETRY_AFTER_S": "1"}

Answer = TypeVar("Answer")


class LoopThread:
    """A loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Return what `work` returns, or raise what it raises. Raises `TimeoutError` after `WAITS_S`."""
        return asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, WAITS_S), self._loop).result()

    def close(self) -> None:
        """End the loop, and its thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@dataclass(frozen=True, kw_only=True)
class StackSite:
    """A running local stack, and its client."""

    note: Mapping[str, Any]
    loop: LoopThread
    admin: Admin
    clients: GoogleClients


@dataclass(kw_only=True)
class Walk:
    """A new owner on the stack: `journey` is what happens beside the browser, `run` waits for its coroutines."""

    browser: Any
    site: StackSite
    journey: Journey
    state: Any = field(default=None)

    def run(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Return what `work` returns."""
        return self.site.loop.run(work)

    def wait_for(self, read: Callable[[], Coroutine[Any, Any, Answer]], is_there: Callable[[Answer], bool]) -> Answer:
        """Return what `read` returns once it is there. Raises `TimeoutError` after `WAITS_S`."""

        async def wait() -> Answer:
            while not is_there(answer := await read()):
                pass
            return answer

        return self.run(wait())

    @contextmanager
    def open(self, path: str = "/console", **options: Any) -> Iterator[Watch]:
        """Open a page, signed in by a one-time link, in a context with these options of Playwright. Raise where it fails."""
        if self.state is None:
            self.state = self._sign_in()
        with watch(self.browser, self.site.note["url"], self.state, **options) as seen:
            problems = seen.open(path)
            assert problems == [], problems
            yield seen

    def _sign_in(self) -> Any:
        link = self.run(self.journey.client.create_sign_in_link())["url"]
        context = self.browser.new_context()
        page = context.new_page()
        page.goto(link)
        page.click("button.main")
        page.wait_for_url(lambda url: url.endswith("/console"))
        state = context.storage_state()
        context.close()
        return state


@contextmanager
def start_site(data: Path, environment: Mapping[str, str] = ENVIRONMENT) -> Iterator[StackSite]:
    """Run a local stack in the folder `data`, with these variables beside the process's, for as long as the block takes."""
    loop = LoopThread()
    try:
        with start_stack(data, {**os.environ, **environment}) as note:
            site = loop.run(_connect(note, loop))
            try:
                yield site
            finally:
                loop.run(_disconnect(site))
    finally:
        loop.close()


@contextmanager
def start_walk(browser: Any, site: StackSite, plan: str = "pro") -> Iterator[Walk]:
    """Yield a new owner on a plan."""
    client = site.loop.run(_build_client(site, plan))
    journey = Journey(admin=site.admin, clients=site.clients, client=client, stack=site.note)
    try:
        yield Walk(browser=browser, site=site, journey=journey)
    finally:
        site.loop.run(client.close())


async def _connect(note: Mapping[str, Any], loop: LoopThread) -> StackSite:
    admin = await Admin.from_note(note).__aenter__()
    return StackSite(note=note, loop=loop, admin=admin, clients=provision.connect(note["env"]))


async def _disconnect(site: StackSite) -> None:
    await site.admin.__aexit__()
    await site.clients.close()


async def _build_client(site: StackSite, plan: str) -> AsyncClient:
    return AsyncClient(site.note["url"], await create_owner(site.clients, plan), workspace="")

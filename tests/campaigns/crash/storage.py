"""Storage: the service of buckets that the runs share, each with a bucket of its own, and how often each bucket stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from emulator.clock import EmulatorClock
from emulator.objects import ObjectStoreEmulator
from emulator.web import App, Receive, Scope, Send, Web, port_of
from ferryman.composition.objects import build_objects, build_wire
from ferryman.gcp.clock import SystemClock
from ferryman.ports.objects import Objects
from ferryman.settings import Settings
from tests.contracts.buckets import CALLER, TOKEN


@dataclass(frozen=True, slots=True)
class Storage:
    """The service: its `url`, and by bucket how many objects it has stored, counted as it answers."""

    url: str
    stored: Counter[str]
    client: httpx.AsyncClient

    async def create_bucket(self, name: str) -> None:
        """Create an empty bucket."""
        answer = await self.client.post(f"{self.url}/storage/v1/b?project={CALLER.project}", json={"name": name})
        answer.raise_for_status()


def open_bucket(url: str, name: str) -> Objects:
    """Return a bucket of the service at `url`, on a connection of its own."""
    settings = Settings(storage_host=url, local_token=TOKEN.value, objects_bucket=name)
    objects = build_objects(settings, build_wire(settings), SystemClock())
    assert objects is not None
    return objects


@asynccontextmanager
async def run_storage() -> AsyncIterator[Storage]:
    """Run the service on a port of this machine."""
    service, web = ObjectStoreEmulator(path=None, clock=EmulatorClock()), Web()
    stored = Counter[str]()
    url = f"http://127.0.0.1:{port_of(web.add(_count(service.app(CALLER, {}), stored)))}"
    await service.start()
    await web.start()
    try:
        async with httpx.AsyncClient(trust_env=False, headers={"Authorization": f"Bearer {TOKEN.value}"}) as client:
            yield Storage(url, stored, client)
    finally:
        await web.close()
        await service.close()


def _count(app: App, stored: Counter[str]) -> App:
    """Return the application, which counts by bucket the objects that it says it has stored."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        async def count(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start" and message["status"] == httpx.codes.OK:
                first, _, bucket = scope["path"].partition("/storage/v1/b/")
                stored[bucket.removesuffix("/o")] += first == "/upload"
            await send(message)

        await app(scope, receive, count)

    return serve

"""A bucket of the local cloud, whose operations are counted in the classes by which Cloud Storage bills them."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

import httpx

from bench.operations.counting import CLASS_A, CLASS_B, KEPT_BYTES, Counts
from bench.operations.services import FILES
from emulator.access import PortToken
from emulator.clock import EmulatorClock
from emulator.objects import ObjectStoreEmulator
from emulator.objects.callers import OPERATOR, StorageCaller
from emulator.web import App, Receive, Scope, Send, Web, port_of
from ferryman.composition.objects import build_objects, build_wire
from ferryman.gcp.clock import SystemClock
from ferryman.ports.objects import Objects
from ferryman.settings import Settings

BUCKET, TOKEN = "bench-files", PortToken("the token of this measurement")
CALLER = StorageCaller(key=OPERATOR, token=TOKEN, email="operator@bench.iam.gserviceaccount.com", project="bench")


async def run_bucket(closing: AsyncExitStack, counts: Counts) -> Any:
    """Run an empty bucket until `closing` ends; every request to it is counted as one of the function `files`."""
    service, web = ObjectStoreEmulator(path=None, clock=EmulatorClock()), Web()
    url = f"http://127.0.0.1:{port_of(web.add(_count(service.app(CALLER, {}), counts)))}"
    await service.start()
    closing.push_async_callback(service.close)
    await web.start()
    closing.push_async_callback(web.close)
    async with httpx.AsyncClient(trust_env=False, headers={"Authorization": f"Bearer {TOKEN.value}"}) as client:
        (await client.post(f"{url}/storage/v1/b?project={CALLER.project}", json={"name": BUCKET})).raise_for_status()
    settings = Settings(storage_host=url, local_token=TOKEN.value, objects_bucket=BUCKET)
    wire = build_wire(settings)
    closing.push_async_callback(wire.close)
    objects = build_objects(settings, wire, SystemClock())
    assert objects is not None
    return CountedObjects(objects, counts)


def classify(method: str, path: str) -> str | None:
    """Return the class of a request of the JSON API; None for a deletion, which is free."""
    if method == "DELETE":
        return None
    return CLASS_B if method == "GET" and not path.endswith("/o") else CLASS_A


def _count(app: App, counts: Counts) -> App:
    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        kind = classify(scope["method"], scope["path"])
        if kind is not None:
            counts[FILES, kind] += 1
        await app(scope, receive, send)

    return serve


class CountedObjects:
    """`ports.Objects`: the bytes that are put are counted, too."""

    def __init__(self, inner: Objects, counts: Counts) -> None:
        self._inner, self._counts = inner, counts

    def __getattr__(self, method: str) -> Any:
        return getattr(self._inner, method)

    async def put(self, key: str, content: bytes, **about: Any) -> str:
        """Put an object, which is a new one in every measurement."""
        self._counts[FILES, KEPT_BYTES] += len(content)
        return await self._inner.put(key, content, **about)

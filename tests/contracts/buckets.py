"""Empty buckets behind the port: in memory, and on the local cloud through each of its two services."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from emulator.access import PortToken
from emulator.clock import EmulatorClock
from emulator.objects import ObjectStoreEmulator
from emulator.objects.callers import OPERATOR, StorageCaller, derive_secret
from emulator.web import Web, port_of
from ferryman.composition.objects import build_objects, build_wire
from ferryman.gcp.clock import SystemClock
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.objects import MemoryObjects
from ferryman.ports.objects import Objects
from ferryman.settings import Settings

BUCKET = "a-project-files"
TOKEN = PortToken("the token of this local cloud")
CALLER = StorageCaller(key=OPERATOR, token=TOKEN, email="operator@a-project.iam.gserviceaccount.com", project="a-project")
KINDS = ("memory", "google", "s3")


def build_settings(kind: str, url: str) -> Settings:
    """Return the settings that name the bucket of a local cloud."""
    if kind == "google":
        return Settings(storage_host=url, local_token=TOKEN.value, objects_bucket=BUCKET)
    return Settings(
        s3_endpoint=url,
        s3_region="fra1",
        s3_bucket=BUCKET,
        s3_access_key=OPERATOR,
        s3_secret_key=derive_secret(TOKEN.value),
    )


@asynccontextmanager
async def run_bucket(kind: str) -> AsyncIterator[Objects]:
    """Run an empty bucket of a kind."""
    if kind == "memory":
        yield MemoryObjects(ManualClock())
        return
    service, web = ObjectStoreEmulator(path=None, clock=EmulatorClock()), Web()
    url = f"http://127.0.0.1:{port_of(web.add(service.app(CALLER, {})))}"
    await service.start()
    await web.start()
    try:
        async with httpx.AsyncClient(trust_env=False, headers={"Authorization": f"Bearer {TOKEN.value}"}) as client:
            (await client.post(f"{url}/storage/v1/b?project=a-project", json={"name": BUCKET})).raise_for_status()
        settings = build_settings(kind, url)
        wire = build_wire(settings)
        objects = build_objects(settings, wire, SystemClock())
        assert objects is not None
        yield objects
        await wire.close()
    finally:
        await web.close()
        await service.close()

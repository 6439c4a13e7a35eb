"""Empty buckets behind the port: in memory, and on the local cloud through each of its two services."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from functools import cache
from typing import cast

import httpx
from cryptography.hazmat.primitives.asymmetric import rsa

from emulator.access import PortToken
from emulator.clock import EmulatorClock
from emulator.identity.metadata import metadata_app
from emulator.identity.tokens import IdentityTokens
from emulator.objects import ObjectStoreEmulator
from emulator.objects.accounts import BITS
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


def build_settings(kind: str, url: str, metadata_host: str) -> Settings:
    """Return the settings that name the bucket of a local cloud."""
    if kind == "google":
        return Settings(storage_host=url, local_token=TOKEN.value, objects_bucket=BUCKET, metadata_host=metadata_host)
    return Settings(
        s3_endpoint=url,
        s3_region="fra1",
        s3_bucket=BUCKET,
        s3_access_key=OPERATOR,
        s3_secret_key=derive_secret(TOKEN.value),
    )


@cache
def make_signing_key() -> rsa.RSAPrivateKey:
    """Return the key of the caller's account, for all buckets: to make one takes longer than most tests."""
    return rsa.generate_private_key(65_537, BITS)


class ToldClock(EmulatorClock):
    """The time that a test tells."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__()
        self._clock = clock

    def now(self) -> datetime:
        return self._clock.now()


@asynccontextmanager
async def run_bucket(kind: str, clock: ManualClock | None = None) -> AsyncIterator[Objects]:
    """Run an empty bucket of a kind; its signatures are of the time of `clock`."""
    if kind == "memory":
        yield MemoryObjects(clock or ManualClock())
        return
    real = None if clock is None else ToldClock(clock)
    service, web = ObjectStoreEmulator(path=None, clock=EmulatorClock(), real=real), Web()
    url = f"http://127.0.0.1:{port_of(web.add(service.app(CALLER, {CALLER.email: CALLER})))}"
    # nobody is given an identity token here, and so nothing that makes them
    metadata = port_of(web.add(metadata_app(cast(IdentityTokens, None), CALLER.email, CALLER.project)))
    await service.start()
    service._keys._store(CALLER.email, make_signing_key())
    await web.start()
    try:
        async with httpx.AsyncClient(trust_env=False, headers={"Authorization": f"Bearer {TOKEN.value}"}) as client:
            (await client.post(f"{url}/storage/v1/b?project=a-project", json={"name": BUCKET})).raise_for_status()
        settings = build_settings(kind, url, f"127.0.0.1:{metadata}")
        wire = build_wire(settings)
        objects = build_objects(settings, wire, clock or SystemClock())
        assert objects is not None
        yield objects
        await wire.close()
    finally:
        await web.close()
        await service.close()

"""An object store at three ports: of the operator, of a function that administers one bucket, and of one without any."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from google.auth.transport.requests import AuthorizedSession
from google.cloud import storage
from google.oauth2.credentials import Credentials

from emulator.access import PortToken
from emulator.clock import EmulatorClock
from emulator.objects import ObjectStoreEmulator
from emulator.objects.callers import OPERATOR, StorageCaller, derive_secret
from emulator.permissions import Grants
from emulator.web import Web, port_of

PROJECT = "a-project"
BUCKET = "a-project-files"
OTHER = "a-project-other"
BOTO = boto3.Session()  # which reads the description of the service once
NAMES = (OPERATOR, "files", "stranger")


def build_caller(name: str) -> StorageCaller:
    """Return one of the callers: `files` administers BUCKET."""
    grants = Grants(
        project=PROJECT,
        firestore="-",
        secrets=frozenset(),
        queues=frozenset(),
        buckets=frozenset({BUCKET} if name == "files" else ()),
        signs=name == "files",
    )
    return StorageCaller(
        key=name,
        token=PortToken(f"token-of-{name}"),
        email=f"{name}@{PROJECT}.iam.gserviceaccount.com",
        project=PROJECT,
        grants=None if name == OPERATOR else grants,
    )


CALLERS = {name: build_caller(name) for name in NAMES}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningStore:
    """A store that answers at the address of each caller."""

    urls: dict[str, str]
    clock: EmulatorClock

    def google(self, name: str = OPERATOR) -> storage.Client:
        """Return Google's client, as this caller."""
        credentials = Credentials(token=CALLERS[name].token.value)  # type: ignore[no-untyped-call]
        session = AuthorizedSession(credentials)  # type: ignore[no-untyped-call]
        session.trust_env = False
        return storage.Client(PROJECT, credentials, session, client_options={"api_endpoint": self.urls[name]})

    def s3(self, name: str = OPERATOR, secret: str | None = None, key: str | None = None) -> Any:
        """Return boto3's client, as this caller."""
        return BOTO.client(
            "s3",
            endpoint_url=self.urls[name],
            region_name="fra1",
            aws_access_key_id=key or name,
            aws_secret_access_key=secret or derive_secret(CALLERS[name].token.value),
            config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}, proxies={}),
        )


async def _serve(path: Path | None, ready: Future[tuple[RunningStore, Callable[[], None]]]) -> None:
    clock, web, ending = EmulatorClock(), Web(), asyncio.Event()
    service = ObjectStoreEmulator(path=path, clock=clock)
    accounts = {caller.email: caller for caller in CALLERS.values()}
    ports = {name: port_of(web.add(service.app(caller, accounts))) for name, caller in CALLERS.items()}
    await service.start()
    await web.start()
    loop = asyncio.get_running_loop()
    urls = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    ready.set_result((RunningStore(urls=urls, clock=clock), lambda: loop.call_soon_threadsafe(ending.set)))
    await ending.wait()
    await web.close()
    await service.close()


@contextmanager
def run_store(path: Path | None = None) -> Iterator[RunningStore]:
    """Run a store in a thread of its own, since these clients block theirs."""
    ready: Future[tuple[RunningStore, Callable[[], None]]] = Future()
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(lambda: asyncio.run(_serve(path, ready)))
        running.add_done_callback(lambda done: done.exception() and not ready.done() and ready.set_exception(done.exception()))
        store, end = ready.result()
        try:
            yield store
        finally:
            end()
            running.result()


@contextmanager
def run_with_buckets() -> Iterator[RunningStore]:
    """Run a store in memory, with two buckets."""
    with run_store() as running:
        for name in (BUCKET, OTHER):
            running.google().create_bucket(name)
        yield running


@pytest.fixture
def store() -> Iterator[RunningStore]:
    """A store in memory, with two buckets."""
    with run_with_buckets() as running:
        yield running


@pytest.fixture
def bucket(store: RunningStore) -> storage.Bucket:
    """The bucket as the function sees it that administers its objects."""
    return store.google("files").bucket(BUCKET)

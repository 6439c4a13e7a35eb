"""Provisioning: the keys, the queues and the local owner, made through Google's own clients, kept if already there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from os import environ  # noqa: TID251 - Firestore's client learns of an emulator from a variable alone

from ferryman.domain.owner import Owner
from ferryman.gcp.clients import Clients
from ferryman.gcp.owners import FirestoreOwners
from ferryman.gcp.queue import CloudTasksTimers
from ferryman.gcp.schedules import FirestoreSchedules
from ferryman.settings import Settings
from ferryman.vault import seal, sign
from ferryman.wiring.local.environment import LOCATION, QUEUE, QUEUE_CALLER, SCHEDULES_QUEUE, account

OWNER = "local"
PLAN = "pro"
RETRIES = {"max_attempts": -1, "min_backoff": {"seconds": 1}, "max_backoff": {"seconds": 30}}
"""Without end: a lease that is still held answers 503, and the queue must outlast it."""


def connect(env: Mapping[str, str]) -> Clients:
    """Clients of the local cloud whose variables are `env`."""
    settings = Settings(
        project=env["GOOGLE_CLOUD_PROJECT"],
        firestore_host=env["FIRESTORE_EMULATOR_HOST"],
        secret_manager_host=env["SECRET_MANAGER_EMULATOR_HOST"],
        cloud_tasks_host=env["CLOUD_TASKS_EMULATOR_HOST"],
    )
    clients = Clients(settings)
    with _emulator(env["FIRESTORE_EMULATOR_HOST"]):
        clients.firestore()
    return clients


async def sealing_key(clients: Clients, project: str, secret: str) -> str:
    """The public half of the sealing key as the functions take it, made at the first start and the same ever after."""
    newest = max(await _versions(clients, f"projects/{project}", secret, seal.generate), key=_number)
    return seal.text_of(_number(newest), seal.public_of(await _private(clients, newest)))


async def receipt_keys(clients: Clients, project: str, secret: str) -> dict[str, str]:
    """The public halves of all receipt keys as the functions take them, the first of them made at the first start."""
    versions = await _versions(clients, f"projects/{project}", secret, sign.generate)
    return {str(_number(each)): sign.public_of(await _private(clients, each)).hex() for each in versions}


async def _versions(clients: Clients, parent: str, secret: str, generate: Callable[[], bytes]) -> list[str]:
    """The names of a secret's enabled versions; where there is no secret, it is made with a first one."""
    name = f"{parent}/secrets/{secret}"
    client = clients.secrets()
    known = [each.name async for each in await client.list_secrets(request={"parent": parent})]
    if name not in known:
        automatic: dict[str, object] = {"replication": {"automatic": {}}}
        await client.create_secret(request={"parent": parent, "secret_id": secret, "secret": automatic})
    listed = await client.list_secret_versions(request={"parent": name})
    versions = [each.name async for each in listed if each.state.name == "ENABLED"]
    if not versions:
        added = await client.add_secret_version(request={"parent": name, "payload": {"data": generate()}})
        versions = [added.name]
    return versions


async def _private(clients: Clients, version: str) -> bytes:
    answer = await clients.secrets().access_secret_version(request={"name": version})
    return answer.payload.data


def _number(version: str) -> int:
    return int(version.rpartition("/")[2])


async def queues(clients: Clients, project: str) -> None:
    """The queues of executions and of schedules."""
    parent = f"projects/{project}/locations/{LOCATION}"
    known = [each.name async for each in await clients.tasks().list_queues(request={"parent": parent})]
    for name in (f"{parent}/queues/{queue}" for queue in (QUEUE, SCHEDULES_QUEUE)):
        if name not in known:
            await clients.tasks().create_queue(request={"parent": parent, "queue": {"name": name, "retry_config": RETRIES}})


async def sweep(clients: Clients, project: str, urls: Mapping[str, str]) -> None:
    """The sweep of the schedules, now, where any task waits for a time."""
    if not await FirestoreSchedules(clients).armed():
        return
    settings = Settings(
        project=project,
        location=LOCATION,
        schedules_queue=SCHEDULES_QUEUE,
        queue_caller=account(QUEUE_CALLER, project),
        function_urls=urls,
    )
    await CloudTasksTimers(clients, settings).sweep(due=datetime.now(UTC))


async def owner(clients: Clients, digest: str) -> None:
    """The local owner, and the API key whose digest this is."""
    owners, now = FirestoreOwners(clients), datetime.now(UTC)
    if await owners.get(OWNER) is None:
        await owners.put(Owner(id=OWNER, plan=PLAN, created_at=now))
    if await owners.by_key(digest) is None:
        await owners.add_key(digest, OWNER, now)


@contextmanager
def _emulator(host: str) -> Iterator[None]:
    # read once, while the client is being made
    name = "FIRESTORE_EMULATOR_HOST"
    before = environ.get(name)
    environ[name] = host
    try:
        yield
    finally:
        if before is None:
            del environ[name]
        else:
            environ[name] = before

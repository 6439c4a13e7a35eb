"""Provisioning: the keys, the queues and the local owner, made through Google's own clients, kept if already there."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import httpx

from ferryman.domain.owners.owner import Owner
from ferryman.gcp.adoption import FirestoreAdoption, Tell
from ferryman.gcp.api_keys import FirestoreApiKeys
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.key_store import SecretManagerKeyStore
from ferryman.gcp.owners import FirestoreOwners
from ferryman.gcp.queue import CloudTasksTimers
from ferryman.gcp.schedules import FirestoreSchedules
from ferryman.settings import Settings
from ferryman.stack.admin import read_token, trust_nobody
from ferryman.stack.environment import LOCATION, QUEUE, QUEUE_CALLER, SCHEDULES_QUEUE, build_account, name_bucket
from ferryman.vault import decision_keys, request_keys, seal, sign

OWNER = "local"
PLAN = "pro"
RETRIES = {"max_attempts": -1, "min_backoff": {"seconds": 1}, "max_backoff": {"seconds": 30}}
"""Without end: a lease that is still held answers 503, and the queue must outlast it."""


def load() -> None:
    """Import Google's libraries, for which the first call of each would otherwise wait."""
    importlib.import_module("google.cloud.firestore")
    importlib.import_module("google.cloud.secretmanager_v1")
    importlib.import_module("google.cloud.tasks_v2")


def connect(env: Mapping[str, str]) -> GoogleClients:
    """Return clients of the local cloud whose variables are `env`. Raise OSError where its token is gone: it has ended."""
    settings = Settings(
        local_token=read_token(env),
        project=env["GOOGLE_CLOUD_PROJECT"],
        firestore_host=env["FIRESTORE_EMULATOR_HOST"],
        secret_manager_host=env["SECRET_MANAGER_EMULATOR_HOST"],
        cloud_tasks_host=env["CLOUD_TASKS_EMULATOR_HOST"],
    )
    return GoogleClients(settings)


async def provision_sealing_key(clients: GoogleClients, project: str, secret: str) -> str:
    """Return the public half of the sealing key as the functions take it, made at the first start and the same ever after."""
    newest, private = max((await _provision_key(clients, project, secret, seal.generate_private_key)).items())
    return seal.format_public_key(newest, seal.derive_public_key(private))


async def provision_receipt_keys(clients: GoogleClients, project: str, secret: str) -> dict[str, str]:
    """Return the public halves of all receipt keys as the functions take them, the first of them made at the first start."""
    privates = await _provision_key(clients, project, secret, sign.generate_private_key)
    return {str(version): sign.derive_public_key(private).hex() for version, private in privates.items()}


async def provision_decision_keys(clients: GoogleClients, project: str, secret: str) -> dict[str, str]:
    """Return the public halves of the valid keys for decisions likewise."""
    privates = await _provision_key(clients, project, secret, decision_keys.generate_secret)
    return {
        str(version): decision_keys.derive_decision_public_key(privates[version]).hex()
        for version in decision_keys.select_valid(privates)
    }


async def provision_request_key(clients: GoogleClients, project: str, secret: str) -> None:
    """Make the key that requests to the platform are signed with, at the first start."""
    await _provision_key(clients, project, secret, request_keys.generate_request_key)


async def _provision_key(clients: GoogleClients, project: str, secret: str, generate: Callable[[], bytes]) -> dict[int, bytes]:
    """Return the enabled versions of a key; where there is no secret for it, it is made with a first one."""
    parent, client = f"projects/{project}", clients.secrets()
    known = [resource.name async for resource in await client.list_secrets(request={"parent": parent})]
    if f"{parent}/secrets/{secret}" not in known:
        automatic: dict[str, object] = {"replication": {"automatic": {}}}
        await client.create_secret(request={"parent": parent, "secret_id": secret, "secret": automatic})
    store = SecretManagerKeyStore(clients, project, secret)
    numbers = [version.number for version in await store.list_versions() if version.enabled] or [await store.add(generate())]
    return {number: await store.private(number) for number in numbers}


async def provision_queues(clients: GoogleClients, project: str) -> None:
    """Create the queues of executions and of schedules."""
    parent = f"projects/{project}/locations/{LOCATION}"
    known = [existing.name async for existing in await clients.tasks().list_queues(request={"parent": parent})]
    for name in (f"{parent}/queues/{queue}" for queue in (QUEUE, SCHEDULES_QUEUE)):
        if name not in known:
            await clients.tasks().create_queue(request={"parent": parent, "queue": {"name": name, "retry_config": RETRIES}})


async def provision_bucket(env: Mapping[str, str]) -> None:
    """Create the bucket of files, unless it is there."""
    project, headers = env["GOOGLE_CLOUD_PROJECT"], {"Authorization": f"Bearer {read_token(env)}"}
    async with httpx.AsyncClient(verify=trust_nobody(), trust_env=False, headers=headers) as http:
        url = f"{env['STORAGE_EMULATOR_HOST']}/storage/v1/b"
        answer = await http.post(url, params={"project": project}, json={"name": name_bucket(project)})
    if answer.status_code != httpx.codes.CONFLICT:  # it is there
        answer.raise_for_status()


async def start_sweep(clients: GoogleClients, project: str, urls: Mapping[str, str]) -> None:
    """Start the sweep of the schedules, now, where any task waits for a time."""
    if not await FirestoreSchedules(clients).armed():
        return
    settings = Settings(
        project=project,
        location=LOCATION,
        schedules_queue=SCHEDULES_QUEUE,
        queue_caller=build_account(QUEUE_CALLER, project),
        function_urls=urls,
    )
    await CloudTasksTimers(clients, settings).sweep(due=datetime.now(UTC))


async def adopt_former_documents(clients: GoogleClients, tell: Tell) -> None:
    """Put what was stored before there were workspaces into its owner's default one, once. No function may run meanwhile."""
    await FirestoreAdoption(clients).run(tell, lambda: datetime.now(UTC), is_quiet=True)


async def provision_owner(clients: GoogleClients, digest: str) -> None:
    """Store the local owner, and the API key whose digest this is."""
    owners, now = FirestoreOwners(clients), datetime.now(UTC)
    if await owners.get(OWNER) is None:
        await owners.put(Owner(id=OWNER, plan=PLAN, created_at=now))
    if await FirestoreApiKeys(clients).find(digest) is None:
        await owners.add_key(digest, OWNER, now)

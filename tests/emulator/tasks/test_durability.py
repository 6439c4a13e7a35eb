"""Durability: what was acknowledged is there after the process was killed in the middle of its work."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import grpc
import pytest
from google.api_core import exceptions
from google.cloud.secretmanager_v1 import SecretManagerServiceAsyncClient
from google.cloud.secretmanager_v1.services.secret_manager_service.transports import (
    SecretManagerServiceGrpcAsyncIOTransport,
)
from google.cloud.tasks_v2 import CloudTasksAsyncClient
from google.cloud.tasks_v2.services.cloud_tasks.transports import CloudTasksGrpcAsyncIOTransport

from emulator.clock import EmulatorClock
from emulator.secrets.store import SCHEMA as SECRETS
from emulator.secrets.store import SecretStore
from emulator.storage import open_store
from emulator.tasks.store import SCHEMA as TASKS
from emulator.tasks.store import TaskStore

PARENT = "projects/test/locations/here"
QUEUE = f"{PARENT}/queues/work"
SECRET = "projects/test/secrets/keys"
SERVER = """
import asyncio, pathlib, sys
import grpc
from emulator.clock import EmulatorClock
from emulator.identity import IdentityTokens
from emulator.secrets import SecretManagerEmulator
from emulator.tasks import CloudTasksEmulator

async def serve():
    path, clock = pathlib.Path(sys.argv[1]), EmulatorClock()
    secrets = SecretManagerEmulator(path=path, clock=clock)
    tasks = CloudTasksEmulator(path=path, clock=clock, tokens=IdentityTokens(path=path, clock=clock))
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((secrets.handler(), tasks.handler()))
    port = server.add_insecure_port("127.0.0.1:0")
    await tasks.start()
    await server.start()
    print(port, flush=True)
    await server.wait_for_termination()

asyncio.run(serve())
"""


async def acknowledged(call: Callable[[int], Awaitable[object]], number: int, enough: asyncio.Event) -> list[str]:
    """Return the names of what one client was told is stored, until the server ends."""
    names: list[str] = []
    try:
        for count in range(10_000):
            names.append(getattr(await call(number * 10_000 + count), "name", ""))
            if len(names) == 50:
                enough.set()
    except (exceptions.GoogleAPICallError, exceptions.RetryError):
        return names
    raise AssertionError("the server was not killed")


@pytest.mark.parametrize("attempt", range(2))
async def test_a_killed_process_loses_no_task_tombstone_or_secret_it_acknowledged(tmp_path: Path, attempt: int):
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVER, str(tmp_path), stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[3]
    )
    assert server.stdout
    port = int(await server.stdout.readline())
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        secrets = SecretManagerServiceAsyncClient(transport=SecretManagerServiceGrpcAsyncIOTransport(channel=channel))
        tasks = CloudTasksAsyncClient(transport=CloudTasksGrpcAsyncIOTransport(channel=channel))
        await secrets.create_secret(parent="projects/test", secret_id="keys", secret={"replication": {"automatic": {}}})
        await tasks.create_queue(parent=PARENT, queue={"name": QUEUE})
        await tasks.pause_queue(name=QUEUE)

        async def make(number: int) -> object:
            task = {"name": f"{QUEUE}/tasks/t{number}", "http_request": {"url": "http://127.0.0.1:9/"}}
            return await tasks.create_task(parent=QUEUE, task=task, timeout=5)

        async def make_and_delete(number: int) -> object:
            task = await make(number)
            await tasks.delete_task(name=task.name, timeout=5)
            return task

        async def add(_: int) -> object:
            return await secrets.add_secret_version(parent=SECRET, payload={"data": b"key"}, timeout=5, retry=None)

        enough = [asyncio.Event() for _ in range(3)]
        clients = [
            asyncio.create_task(acknowledged(call, number, enough[number]))
            for number, call in enumerate((make, make_and_delete, add))
        ]
        await asyncio.gather(*(event.wait() for event in enough))
        server.send_signal(signal.SIGKILL)
        await server.wait()
        created, deleted, added = await asyncio.gather(*clients)

    task_store, now = TaskStore(open_store(tmp_path, "tasks", TASKS)), EmulatorClock().now()
    assert all(task_store.task(name) for name in created)
    assert not any(task_store.task(name) for name in deleted)
    assert all(task_store.is_taken(name, now) for name in deleted)
    task_store.close()
    secret_store = SecretStore(open_store(tmp_path, "secrets", SECRETS))
    assert secret_store.newest(SECRET) >= len(added) >= 50
    for name in added:
        version = secret_store.version(SECRET, int(name.rsplit("/", 1)[1]))
        assert version
        assert version[1] == b"key"
    secret_store.close()

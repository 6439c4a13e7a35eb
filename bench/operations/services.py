"""The services of the measured system: the local cloud in this process, with a port per function to count its requests."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import grpc

from bench.operations.counting import CountingHandler, Counts
from bench.operations.model import HOST, LONG_PATH, LONG_TEXT
from bench.operations.storage import StoredDocuments
from emulator.clock import EmulatorClock
from emulator.firestore import SERVER_OPTIONS, FirestoreEmulator
from emulator.identity import IdentityTokens
from emulator.internet import Internet
from emulator.internet.routes import read_route
from emulator.secrets import SecretManagerEmulator
from emulator.tasks import CloudTasksEmulator
from ferryman.gcp.clients import GoogleClients
from ferryman.stack import provision
from ferryman.stack.environment import LOCATION

INDEXES = Path(__file__).parents[2] / "infra/firestore.indexes.json"
API, ORCHESTRATOR, TRIGGER, TOOL = "api", "orchestrator", "on_execution", "api_call"
FUNCTIONS = (API, ORCHESTRATOR, TRIGGER, TOOL)
WEBHOOK, OPERATOR = "webhook", "operator"
FILES, WEB, SEARCH = "files", "web", "search"
"""Functions without keys: they ask neither Firestore nor the queue, and `files` the bucket alone."""
COUNTED = (*FUNCTIONS, WEBHOOK)
"""The functions of an execution, and the key holder that sends alerts."""


async def run_internet(closing: AsyncExitStack, answer_bytes: int) -> Internet:
    folder = Path(closing.enter_context(tempfile.TemporaryDirectory(prefix="bench-operations-")))
    internet = Internet(folder, clock=EmulatorClock())
    bodies = {"/x": "x" * answer_bytes, f"/{LONG_PATH}": LONG_TEXT}
    internet.can(HOST, [read_route({"method": "*", "path": path, "body": body}, "route") for path, body in bodies.items()])
    await internet.start()
    closing.push_async_callback(internet.close)
    return internet


async def serve_functions(closing: AsyncExitStack, counts: Counts, documents: StoredDocuments) -> Mapping[str, str]:
    """Serve the services on a port for each function, which is counted, and on one for the operator, which is not."""
    clock = EmulatorClock()
    firestore, secrets = FirestoreEmulator(path=None, indexes=INDEXES), SecretManagerEmulator(path=None, clock=clock)
    tasks = CloudTasksEmulator(path=None, clock=clock, tokens=IdentityTokens(path=None, clock=clock))
    firestore.watch(documents.apply_change)
    for service in (firestore, secrets, tasks):
        await service.start()
        closing.push_async_callback(service.close)
    handlers = (firestore.handler(), secrets.handler(), tasks.handler())
    addresses = {}
    for name in (*COUNTED, OPERATOR):
        server = grpc.aio.server(options=(*SERVER_OPTIONS, ("grpc.so_reuseport", 0)))
        server.add_generic_rpc_handlers(handlers if name == OPERATOR else (CountingHandler(name, handlers, counts),))
        addresses[name] = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        await server.start()
        closing.push_async_callback(server.stop, 0)
    return addresses


async def create_queues(operator: GoogleClients, project: str) -> None:
    await provision.provision_queues(operator, project)
    async for queue in await operator.tasks().list_queues(request={"parent": f"projects/{project}/locations/{LOCATION}"}):
        await operator.tasks().pause_queue(request={"name": queue.name})  # `CountedSystem.deliver` delivers instead


def list_hosts(address: str) -> dict[str, str]:
    return {"firestore_host": address, "secret_manager_host": address, "cloud_tasks_host": address}

"""One stack for all journeys of a session, started as anyone would; each journey has its own owner, task and script."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from ferryman.client import AsyncClient
from ferryman.domain.owners.owner import Owner
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.owners import FirestoreOwners
from ferryman.serving import keys
from ferryman.stack import provision
from ferryman.stack.admin import Admin
from tests.canaries import canary
from tests.canaries import stack as places
from tests.canaries.sink import append
from tests.journeys import own_model

FERRYMAN = Path(sys.executable).with_name("ferryman")
ENDS_S = 40
KEY = canary.create_key("journeys")
"""The credential of every journey that needs only one."""

CALENDAR = {
    "id": "calendar",
    "name": "Calendar",
    "description": "A service that is connected by consent.",
    "category": "test",
    "allowed_domains": ["calendar.example.com"],
    "credential_key_template": "CALENDAR_TOKEN",
    "oauth": {
        "authorize_url": "https://calendar.example.com/authorize",
        "token_url": "https://calendar.example.com/token",
        "issuer": "https://calendar.example.com",
        "sends_iss": True,
        "client_id": "ferryman",
        "scopes": ["events.read"],
        "authorize_params": {"access_type": "offline"},
    },
}
"""What the stack's operator has added to the catalog."""

OAUTH_ISSUER, OAUTH_RESOURCE = "https://login.example.com", "https://mcp.example.com/mcp"
"""The operator's authorization server, and the URL of /mcp as it names it."""

READING_ALL = ("tests/journeys/test_personal_data.py", "tests/journeys/test_tenants.py")
"""Journeys that read all that the stack holds: they come first, when it holds the least."""

NewClient = Callable[[str], Awaitable[AsyncClient]]
NewKey = Callable[[str], Awaitable[str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put first what reads all that the stack holds."""
    items.sort(key=lambda item: not item.nodeid.startswith(READING_ALL))


@pytest.fixture(scope="session")
def served_model() -> Iterator[Mapping[str, str]]:
    """The variables by which the stack knows a model of its operator's own, which is served beside it."""
    with own_model.serve() as variables:
        yield variables


@pytest.fixture(scope="session")
def unreachable_models() -> Iterator[Mapping[str, Any]]:
    """Models of the operator's whose providers are never reached: one refuses connections, one never ends a handshake."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with socket.create_server(("127.0.0.1", 0)) as closed:
            ports = {"silent": silent.getsockname()[1], "closed": closed.getsockname()[1]}
        yield {name: {"url": f"https://127.0.0.1:{port}", "input": "3", "output": "15"} for name, port in ports.items()}


@contextmanager
def start_stack(data: Path, environment: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    """Run a whole local stack in the folder `data` for as long as the block takes, and yield what it notes about itself."""
    log = data.with_name(f"{data.name}.log")
    with log.open("wb") as err:
        child = subprocess.Popen(
            [FERRYMAN, "up", "--data", data, "--json"], stdout=subprocess.PIPE, stderr=err, env=environment
        )
    assert child.stdout is not None
    with child.stdout as out:
        try:
            first = out.readline()
            assert first, f"the stack did not start:\n{log.read_text()}"
            yield {**json.loads((data / "stack.json").read_text()), "data": data, "console": json.loads(first)["console"]}
        finally:
            child.send_signal(signal.SIGINT)
            child.wait(ENDS_S)


@pytest.fixture(scope="session")
def stack(
    tmp_path_factory: pytest.TempPathFactory, served_model: Mapping[str, str], unreachable_models: Mapping[str, Any]
) -> Iterator[Mapping[str, Any]]:
    """What the stack notes about itself: its URL, the admin's, and the variables that point a client at its cloud."""
    data = tmp_path_factory.mktemp("stack")
    # a held lease that a killed orchestrator leaves must not cost a test two minutes
    environment = {**os.environ, "FERRYMAN_LEASE_S": "6", "FERRYMAN_POLL_S": "0.1", "FERRYMAN_RETRY_AFTER_S": "1"}
    environment |= {"FERRYMAN_INTEGRATIONS": json.dumps([CALENDAR]), "FERRYMAN_DIRECT_LINKS": "1", **served_model}
    environment |= {"FERRYMAN_OAUTH_ISSUER": OAUTH_ISSUER, "FERRYMAN_OAUTH_RESOURCE": OAUTH_RESOURCE}
    environment["FERRYMAN_MODELS"] = json.dumps({**json.loads(served_model["FERRYMAN_MODELS"]), **unreachable_models})
    with start_stack(data, environment) as noted:
        yield noted
        asyncio.run(remember(noted))


async def remember(stack: Mapping[str, Any]) -> None:
    """Keep for the search what the stack holds and has said; its files are under the run's folder anyway."""
    for kind, content in (await places.gather(stack)).items():
        append(kind, *(place.read() for place in content))
    arrived = await places.count_sent(stack, [canary.create_canary("journeys")])
    append("travelled", *[f"{arrived} requests"] * bool(arrived))


@pytest.fixture
async def admin(stack: Mapping[str, Any]) -> AsyncIterator[Admin]:
    async with Admin.from_note(stack) as connected:
        yield connected


@pytest.fixture
async def clients(stack: Mapping[str, Any]) -> AsyncIterator[GoogleClients]:
    connected = provision.connect(stack["env"])
    yield connected
    await connected.close()


async def create_owner(clients: GoogleClients, plan: str) -> str:
    """Return the own API key of a new owner on a plan."""
    key, owner, now = keys.generate_key(), f"owner-{uuid4().hex[:12]}", datetime.now(UTC)
    await FirestoreOwners(clients).put(Owner(id=owner, plan=plan, created_at=now))
    await FirestoreOwners(clients).add_key(keys.digest_key(key), owner, now)
    return key


@pytest.fixture
def new_key(clients: GoogleClients) -> NewKey:
    """The own API key of a new owner on a plan."""
    return functools.partial(create_owner, clients)


@pytest.fixture
async def new_client(stack: Mapping[str, Any], new_key: NewKey) -> AsyncIterator[NewClient]:
    """A client of a new owner on a plan."""
    opened: list[AsyncClient] = []

    async def new(plan: str) -> AsyncClient:
        opened.append(AsyncClient(stack["url"], await new_key(plan), workspace=""))
        return opened[-1]

    yield new
    for client in opened:
        await client.close()


UNASKED = [{"mode": "never"}]
"""The rules of a task by which nobody is asked about its calls."""


@dataclass(kw_only=True)
class Journey:
    """One owner's task and what becomes of it. `path` is this journey's own on every host."""

    admin: Admin
    clients: GoogleClients
    client: AsyncClient
    stack: Mapping[str, Any]
    name: str = field(default_factory=lambda: uuid4().hex[:12])

    @property
    def path(self) -> str:
        return f"/{self.name}"

    def url(self, host: str) -> str:
        return f"https://{host}{self.path}"

    async def serve(self, host: str, **route: Any) -> None:
        """Have `host` answer on this journey's path."""
        body = {} if "body" in route else {"json": {"ok": True}}
        await self.admin.serve_routes(host, [{"method": "*", "path": self.path, **body, **route}])

    async def received(self, host: str) -> list[dict[str, Any]]:
        """Return the requests that `host` received on this journey's path."""
        return [request for request in await self.admin.list_requests(host) if request["path"] == self.path]

    async def task(self, *steps: Mapping[str, Any], **fields: Any) -> str:
        """Return a task whose model takes these steps; no call waits for a person where `approvals` do not say so."""
        await self.admin.set_script(self.name, {"steps": list(steps)})
        task = {"name": self.name, "task_prompt": "Do it.", "model": f"scripted/{self.name}", "approvals": UNASKED, **fields}
        return str((await self.client.create_task(task))["task_id"])

    async def credential(self, task: str, name: str, service: str, **fields: Any) -> None:
        await self.client.set_credential(task, name, {"value": KEY, "service": service, **fields})

    async def run(self, task: str) -> dict[str, Any]:
        """Return the record of an execution that has ended."""
        started = await self.client.start_execution(task)
        return await self.await_end(started["execution_id"])

    async def await_end(self, execution: str) -> dict[str, Any]:
        async for _ in self.client.stream_events(execution):
            pass
        return await self.client.get_execution(execution)

    async def problems(self) -> list[str]:
        """Return where a prompt differs from what the script expects."""
        return list((await self.admin.read_report(self.name))["problems"])


@pytest.fixture
async def key(new_key: NewKey) -> str:
    """The own API key of the owner of `journey`."""
    return await new_key("pro")


@pytest.fixture
async def journey(stack: Mapping[str, Any], admin: Admin, clients: GoogleClients, key: str) -> AsyncIterator[Journey]:
    """A journey of the owner with `key`."""
    async with AsyncClient(stack["url"], key, workspace="") as client:
        yield Journey(admin=admin, clients=clients, client=client, stack=stack)


@pytest.fixture
async def guru_journey(stack: Mapping[str, Any], admin: Admin, clients: GoogleClients, new_client: NewClient) -> Journey:
    return Journey(admin=admin, clients=clients, client=await new_client("guru"), stack=stack)


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    """Return a tool use, as scripts write it."""
    return {"name": tool, "input": arguments}


def asks(*calls: Mapping[str, Any], expect: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a turn with tool uses; `expect` must be in the last message of the prompt."""
    return {"text": "Working.", "tool_calls": list(calls), "expect": {"last_contains": list(expect)}}


def says(text: str, *, expect: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the last turn."""
    return {"text": text, "expect": {"last_contains": list(expect)}}

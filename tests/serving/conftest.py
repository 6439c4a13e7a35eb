"""The API on doubles: two owners, each with a key, a real sealing key, and a client over ASGI."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ferryman import catalog
from ferryman.billing.prices import Prices
from ferryman.domain.credential import AuthType, Granted, Label, Sealed
from ferryman.domain.owner import Owner
from ferryman.domain.plan import PLANS
from ferryman.domain.problem import invalid
from ferryman.egress.frame import harmless
from ferryman.local.clock import START, CountingIds, HandClock
from ferryman.local.clusters import MemoryClusters
from ferryman.local.connections import MemoryConnections
from ferryman.local.executions import MemoryExecutions
from ferryman.local.halts import MemoryHalts
from ferryman.local.ledger import MemoryLedger
from ferryman.local.log import KeptLog
from ferryman.local.memory import Memory
from ferryman.local.names import TableNames
from ferryman.local.owners import MemoryOwners
from ferryman.local.queue import MemoryQueue, MemoryTimers
from ferryman.local.schedules import MemorySchedules
from ferryman.local.tasks import MemoryCredentials, MemoryTasks
from ferryman.serving import api, keys
from ferryman.tools.builtin import TOOLS
from ferryman.tools.custom.definitions import CUSTOM
from ferryman.vault import grants, seal, sign
from ferryman.wiring.api import House

PRIVATE = seal.generate()
SIGNING = sign.generate()
NAMES = {
    "hooks.example.com": ["93.184.216.34"],
    "inside.example.com": ["10.0.0.7"],
    "mixed.example.com": ["93.184.216.34", "127.0.0.1"],
    "silent.example.com": [],
}


CALENDAR = {
    "id": "calendar",
    "name": "Calendar",
    "description": "One that is connected by consent.",
    "category": "test",
    "allowed_domains": ["api.calendar.test"],
    "oauth": {
        "authorize_url": "https://login.calendar.test/authorize?tenant=all",
        "token_url": "https://login.calendar.test/token",
        "hosts": ["login.calendar.test"],
        "scopes": ["events.read", "events.write"],
        "client_id": "house-client",
        "authorize_params": {"access_type": "offline"},
        "redirect_uris": ["https://console.example.com/connected"],
    },
}


@dataclass
class FarBank:
    """`ports.Connector`: what it was asked; it stores a credential, or fails as a test says."""

    memory: Memory
    asked: list[dict[str, Any]] = field(default_factory=list)
    fails: Exception | None = None

    async def finish(self, task: str, *, owner: str, digest: str, code: str, version: int) -> str:
        self.asked.append({"task": task, "owner": owner, "digest": digest, "code": code, "version": version})
        if self.fails is not None:
            raise self.fails
        label = Label(
            owner=owner,
            task=task,
            name="CALENDAR_TOKEN",
            version=1,
            service="calendar",
            auth_type=AuthType.BEARER,
            hosts=("api.calendar.test",),
        )
        granted = Granted(scopes=("events.read",), token_expires_at=START + timedelta(hours=1))
        sealed = Sealed(label=label, ciphertext=b"-", key_version=version, created_at=START, updated_at=START, grant=granted)
        self.memory.credentials.setdefault(task, {})[label.name] = sealed
        return label.name


@dataclass
class Stage:
    """The doubles behind the API, and a way to ask it as an owner."""

    memory: Memory = field(default_factory=Memory)
    clock: HandClock = field(default_factory=HandClock)
    queue: MemoryQueue = field(default_factory=MemoryQueue)
    timers: MemoryTimers = field(default_factory=MemoryTimers)
    log: KeptLog = field(default_factory=KeptLog)
    keys: dict[str, str] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)

    async def fetched(self, task: str, *, owner: str, url: str) -> dict[str, str]:
        if url not in self.documents:
            raise invalid("url", "Error: request failed: the document was answered with HTTP 404")
        return dict(self.documents)

    def __post_init__(self) -> None:
        self.connector = FarBank(self.memory)

    def house(self) -> House:
        sealer = seal.PublicKey(7, seal.public_of(PRIVATE))
        return House(
            owners=MemoryOwners(self.memory),
            tasks=MemoryTasks(self.memory),
            credentials=MemoryCredentials(self.memory),
            connections=MemoryConnections(self.memory),
            connector=self.connector,
            clusters=MemoryClusters(self.memory),
            executions=MemoryExecutions(self.memory),
            ledger=MemoryLedger(self.memory),
            halts=MemoryHalts(self.memory),
            queue=self.queue,
            schedules=MemorySchedules(self.memory),
            timers=self.timers,
            sealer=sealer,
            info=seal.info_of,
            prove=lambda connection, proof: sealer.seal(grants.proof_written(proof), seal.connection_info(connection)),
            receipt_keys={1: sign.public_of(SIGNING)},
            names=TableNames(NAMES),
            clock=self.clock,
            ids=CountingIds(),
            tracer=self.log,
            tools=(*TOOLS, *CUSTOM),
            documents=self,
            tame=harmless,
            plans=PLANS,
            integrations=catalog.load([CALENDAR]),
            models=Prices({"scripted": {"input": "3", "output": "15"}}),
            poll_s=0.001,
        )

    def owner(self, name: str, plan: str = "pro") -> dict[str, str]:
        """The headers of owner `name`, who is there from now on."""
        if name not in self.keys:
            self.keys[name] = keys.new_key()
            self.memory.owners[name] = Owner(id=name, plan=plan, created_at=START)
            self.memory.keys[keys.digest(self.keys[name])] = name
        return {"Authorization": f"Bearer {self.keys[name]}"}


TASK = {
    "name": "weather report",
    "task_prompt": "Report the weather.",
    "model": "claude-haiku-4-5",
    "tools": ["api_call"],
    "integrations": ["openweather", "github", "calendar"],
}


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def app(stage: Stage) -> FastAPI:
    return api.create(stage.house())


@pytest.fixture
async def client(stage: Stage, app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client that asks as ann."""
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=stage.owner("ann")) as client:
        yield client


@pytest.fixture
async def task(client: httpx.AsyncClient) -> str:
    """The id of a stored task of ann's."""
    answer = await client.post("/v1/tasks", json=TASK)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["task_id"])

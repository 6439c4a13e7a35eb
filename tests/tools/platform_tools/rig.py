"""The function `platform` over stores in memory, and requests to it: signed as the runtime signs them, or in any other way."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

import httpx
from functions_framework import aio

from ferryman.domain.executions.execution import Execution
from ferryman.domain.mcp_revisions import MODERN
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import PLANS
from ferryman.domain.signed_request import RequestToken, SignedRequest, sign_request
from ferryman.domain.tasks.task import Task
from ferryman.domain.workspaces.member import Membership, Role
from ferryman.domain.workspaces.names import derive_default_agent
from ferryman.domain.workspaces.workspace import Workspace
from ferryman.inmemory.agents import MemoryAgents
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.conversations import MemoryConversations
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.members import MemoryMembers
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.nonces import MemoryNonces
from ferryman.inmemory.owners import MemoryHalts, MemoryOwners
from ferryman.inmemory.past_messages import MemoryPastMessages
from ferryman.inmemory.queue import MemoryQueue, MemoryTimers
from ferryman.inmemory.tasks import MemoryTasks
from ferryman.inmemory.user_documents import MemoryUserDocuments
from ferryman.inmemory.workspaces import MemoryWorkspaces
from ferryman.ports.schedules import Timers
from ferryman.schedules.fire import arm_timer
from ferryman.serving import platform
from ferryman.tools.own_files import load_own_files
from ferryman.tools.platform.call import PlatformDependencies
from ferryman.tools.platform.forwarding import CALL_META
from tests.builders import build_policy, build_task

load_own_files("ferryman.tools.platform")

CALLER = "ferryman-platform-call@p.iam.gserviceaccount.com"
KEY, FORMER = b"newest-key-of-the-platform-32byt", b"former-key-of-the-platform-32byt"
TOOLS = ("orchestrator__search_past_messages", "cron_add", "cron_list", "calculator")


@dataclass
class Keys:
    """`ports.RequestKeys` of a test."""

    keys: Sequence[bytes] = (KEY, FORMER)
    newer: Sequence[bytes] = ()

    async def signing(self) -> bytes:
        return self.keys[0]

    async def valid(self) -> Sequence[bytes]:
        return self.keys

    async def renewed(self) -> Sequence[bytes]:
        return self.newer


async def _arm(timers: Timers, task: Task, now: datetime) -> None:
    await arm_timer(timers, task, now=now)


@dataclass
class Rig:
    """One owner, `ann`, with two workspaces of one task each, an execution that runs in each, and the function."""

    memory: Memory = field(default_factory=Memory)
    clock: ManualClock = field(default_factory=ManualClock)
    keys: Keys = field(default_factory=Keys)
    tracer: RecordingLog = field(default_factory=RecordingLog)
    queue: MemoryQueue = field(default_factory=MemoryQueue)
    timers: MemoryTimers = field(default_factory=MemoryTimers)
    numbers: Any = field(default_factory=count)

    def __post_init__(self) -> None:
        memory = self.memory
        self.nonces = MemoryNonces(memory)
        self.tasks, self.executions = MemoryTasks(memory), MemoryExecutions(memory)
        self.conversations, self.members = MemoryConversations(memory), MemoryMembers(memory)
        self.dependencies = PlatformDependencies(
            agents=MemoryAgents(memory),
            conversations=self.conversations,
            executions=self.executions,
            halts=MemoryHalts(memory),
            members=self.members,
            owners=MemoryOwners(memory),
            past_messages=MemoryPastMessages(memory),
            queue=self.queue,
            tasks=self.tasks,
            timers=self.timers,
            user_documents=MemoryUserDocuments(memory),
            workspaces=MemoryWorkspaces(memory),
            arm_timer=_arm,
            clock=self.clock,
            plans=PLANS,
            integrations=frozenset({"github"}),
        )
        self.handler = platform.serve(lambda _: self)

    @property
    def callers(self) -> Rig:
        return self

    async def identify(self, authorization: str | None, *, audience: str) -> str:
        """Return the caller, whom the header names."""
        return authorization or ""

    async def fill(self) -> Rig:
        """Store the owner, the workspaces, their tasks and executions that run."""
        now = self.clock.now()
        await self.dependencies.owners.put(Owner(id="ann", plan="pro", created_at=now))
        for workspace in ("ws_a", "ws_b"):
            await self.dependencies.workspaces.create(
                Workspace(id=workspace, owner="ann", name=workspace, created_at=now, updated_at=now)
            )
            await self.run(f"exec_{workspace}", workspace)
        return self

    async def run(self, name: str, workspace: str, *, person: str = "") -> Execution:
        """Store an execution of the workspace that runs, with its task."""
        now, task = self.clock.now(), f"task_{workspace}"
        agent = derive_default_agent(workspace)
        if await self.tasks.get(task) is None:
            place = {"owner": "ann", "workspace": workspace, "agent": agent}
            await self.tasks.create(build_task(id=task, tools=TOOLS, integrations=("github",), created_at=now, **place))
        execution = Execution(id=name, task=task, owner="ann", workspace=workspace, agent=agent, person=person, created_at=now)
        await self.executions.start(execution, most=50)
        claimed, _ = await self.executions.claim(name, slice=0, holder="h", now=now, lease=timedelta(days=1))
        opened = replace(claimed, policy=build_policy(owner="ann", task=task, tools=TOOLS))
        self.memory.executions[name] = opened
        return opened

    async def join(self, person: str, role: Role, workspace: str = "ws_a") -> None:
        """Store the membership of a person."""
        membership = Membership(owner="ann", workspace=workspace, person=person, role=role, created_at=self.clock.now())
        self.memory.memberships[workspace, person] = membership

    def token(self, *, user: str = "ann", workspace: str = "ws_a", at: datetime | None = None) -> RequestToken:
        """Return a token with a nonce of its own."""
        return RequestToken(user=user, workspace=workspace, at=at or self.clock.now(), nonce=f"{next(self.numbers):032x}")

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        user: str = "ann",
        workspace: str = "ws_a",
        execution: str = "",
        seq: int = 0,
    ) -> httpx.Response:
        """Return the answer to a call of a tool, signed as the runtime does."""
        named = {"execution": execution or f"exec_{workspace}", "seq": seq}
        params = {"name": tool, "arguments": dict(arguments or {}), "_meta": {CALL_META: named}}
        request, headers = build_request("tools/call", params)
        return await self.send(request, headers, sign_request(KEY, request, self.token(user=user, workspace=workspace)))

    async def send(
        self, request: SignedRequest, headers: Mapping[str, str], authorization: str | None, *, caller: str = CALLER
    ) -> httpx.Response:
        """Return the function's answer."""
        app = aio._create_asgi_app_with_function(self.handler, "http", False)
        named = {"X-Serverless-Authorization": caller, **headers}
        if authorization is not None:
            named["Authorization"] = authorization
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://f.test") as client:
            return await client.request(request.method, request.path, content=request.body, headers=named)


def build_request(method: str, params: Mapping[str, Any], path: str = "/mcp") -> tuple[SignedRequest, dict[str, str]]:
    """Return a request of the Model Context Protocol as it is signed, and its headers."""
    meta = {
        **params.get("_meta", {}),
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}).encode()
    name = params["name"] if method == "tools/call" else ""
    request = SignedRequest(method="POST", path=path, mcp_method=method, mcp_name=name, body=body)
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": method,
        **({"Mcp-Name": name} if name else {}),
    }
    return request, headers


def read_content(answer: httpx.Response) -> Any:
    """Return the JSON that a tool answered."""
    assert answer.status_code == 200, answer.text
    result = answer.json()["result"]
    assert "isError" not in result, result
    return json.loads(result["content"][0]["text"])


def read_failure(answer: httpx.Response) -> str:
    """Return the text of a failure."""
    assert answer.status_code == 200, answer.text
    result = answer.json()["result"]
    assert result["isError"] is True
    return str(result["content"][0]["text"])


def with_keys(rig: Rig, *keys: bytes, newer: Sequence[bytes] = ()) -> Rig:
    """Return the rig, whose function knows these keys."""
    rig.keys = replace(rig.keys, keys=keys, newer=newer)
    return rig

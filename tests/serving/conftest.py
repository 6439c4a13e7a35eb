"""The API on doubles: two owners, each with a key, a real sealing key, and a client over ASGI."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ferryman import catalog
from ferryman.billing.prices import Prices
from ferryman.catalog.tools import TOOLS
from ferryman.composition.api import ApiDependencies
from ferryman.domain.console_sessions.session import build_session
from ferryman.domain.credentials.credential import GrantStatus, SealedCredential
from ferryman.domain.files.object import Object
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import PLANS
from ferryman.domain.problem import build_input_error
from ferryman.domain.remote_servers.pin import PinState, ToolPin
from ferryman.domain.workspaces.agent import build_default_agent
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.identity import AccessToken
from ferryman.domain.workspaces.member import Membership, Right, Role
from ferryman.domain.workspaces.names import derive_default_workspace
from ferryman.domain.workspaces.person import INVITATION_LIFETIME, Invitation, Person
from ferryman.domain.workspaces.workspace import Workspace
from ferryman.framing.frame import neutralize_unframed
from ferryman.inmemory.agents import MemoryAgents
from ferryman.inmemory.alerts import MemoryAlerts
from ferryman.inmemory.api_keys import MemoryApiKeys
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.inmemory.archives import MemoryArchives
from ferryman.inmemory.audit import MemoryAuditEntries
from ferryman.inmemory.clock import START, CountingIds, ManualClock
from ferryman.inmemory.clusters import MemoryClusters
from ferryman.inmemory.console_sessions import MemoryConsoleSessions
from ferryman.inmemory.conversations import MemoryConversations
from ferryman.inmemory.credentials import MCP_SERVERS, MemoryConnections, MemoryCredentials
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.file_quotas import MemoryFileQuotas
from ferryman.inmemory.invitations import MemoryInvitations
from ferryman.inmemory.jobs import MemoryJobQueue, MemoryJobs
from ferryman.inmemory.keyed import MemoryKeyedRequests
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.members import MemoryMembers
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.objects import MemoryObjects
from ferryman.inmemory.owners import MemoryHalts, MemoryLedger, MemoryOwners, MemoryStreams
from ferryman.inmemory.queue import MemoryQueue, MemoryTimers
from ferryman.inmemory.remote_servers import MemoryRemoteServers
from ferryman.inmemory.schedules import MemorySchedules
from ferryman.inmemory.tasks import MemoryTasks
from ferryman.inmemory.usage import MemoryUsage
from ferryman.inmemory.user_documents import MemoryUserDocuments
from ferryman.inmemory.workspaces import MemoryWorkspaces
from ferryman.serving import api, keys
from ferryman.tools.files.workspace_files import WorkspaceFiles
from ferryman.vault import seal, sign
from ferryman.vault.access_tokens import AccessTokenReader
from ferryman.vault.decision_keys import DecisionSigning, derive_decision_public_key
from ferryman.vault.purpose_keys import DerivedPurposeKeys
from tests.authority import ISSUER, RESOURCE, Authority
from tests.builders import build_label
from tests.plain_gate import TableNames
from tests.remote_servers import DIGEST, build_server

from .server_connector import RecordingServerConnector
from .server_lister import StoringServerLister
from .values import (
    API_KEY,
    IMPORTED,
    SIGNING,
    TOKEN,
    build_approval,
    build_conversation,
    build_job,
    build_standing,
    deny_approval,
)

PRIVATE = seal.generate_private_key()
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
        "client_id": "operator-client",
        "authorize_params": {"access_type": "offline"},
        "redirect_uris": ["https://console.example.com/connected"],
    },
}
INTEGRATIONS, PRICES = catalog.load([CALENDAR]), Prices({"scripted": {"input": "3", "output": "15"}})
"""Read once: the API of each test would parse them again."""


@dataclass
class RecordingConnector:
    """`ports.Connector`: what it was asked; it stores a credential, or fails as a test says."""

    memory: Memory
    requests: list[dict[str, Any]] = field(default_factory=list)
    fails: Exception | None = None

    async def finish(self, task: str, *, owner: str, digest: str, code: str, iss: str | None, version: int) -> str:
        request = {"task": task, "owner": owner, "digest": digest, "code": code, "iss": iss, "version": version}
        self.requests.append(request)
        if self.fails is not None:
            raise self.fails
        label = build_label(owner=owner, task=task, name="CALENDAR_TOKEN", service="calendar", hosts=("api.calendar.test",))
        granted = GrantStatus(scopes=("events.read",), token_expires_at=START + timedelta(hours=1))
        sealed = SealedCredential(
            label=label, ciphertext=b"-", key_version=version, created_at=START, updated_at=START, grant=granted
        )
        self.memory.credentials.setdefault(task, {})[label.name] = sealed
        return label.name


class ApiKeyVersions:
    """`ports.PrivateKeys`: the one version of the api's key."""

    async def private(self, version: int) -> bytes:
        return {1: API_KEY}[version]


@dataclass
class Stage:
    """The doubles behind the API, and a way to ask it as an owner."""

    memory: Memory = field(default_factory=Memory)
    clock: ManualClock = field(default_factory=ManualClock)
    queue: MemoryQueue = field(default_factory=MemoryQueue)
    job_queue: MemoryJobQueue = field(default_factory=MemoryJobQueue)
    timers: MemoryTimers = field(default_factory=MemoryTimers)
    log: RecordingLog = field(default_factory=RecordingLog)
    ids: CountingIds = field(default_factory=CountingIds)
    keys: dict[str, str] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    authority: Authority = field(default_factory=Authority)
    answer_wait_s: float = 0.0
    receipt_keys: dict[int, bytes] = field(default_factory=lambda: {1: sign.derive_public_key(SIGNING)})

    async def fetch(self, task: str, *, owner: str, url: str) -> dict[str, str]:
        if url not in self.documents:
            raise build_input_error("url", "Error: request failed: the document was answered with HTTP 404")
        return dict(self.documents)

    def __post_init__(self) -> None:
        self.objects = MemoryObjects(self.clock)
        self.files = WorkspaceFiles(self.objects)
        self.connector = RecordingConnector(self.memory)
        self.server_connector = RecordingServerConnector(self.memory)
        self.server_lister = StoringServerLister(self.memory, self.clock)

    def deps(self) -> ApiDependencies:
        sealer = seal.PublicKey(7, seal.derive_public_key(PRIVATE))
        return ApiDependencies(
            owners=MemoryOwners(self.memory),
            workspaces=MemoryWorkspaces(self.memory),
            agents=MemoryAgents(self.memory),
            keys=MemoryApiKeys(self.memory),
            members=MemoryMembers(self.memory),
            invitations=MemoryInvitations(self.memory),
            console_sessions=MemoryConsoleSessions(self.memory),
            audit=MemoryAuditEntries(self.memory),
            tasks=MemoryTasks(self.memory),
            credentials=MemoryCredentials(self.memory),
            connections=MemoryConnections(self.memory),
            connector=self.connector,
            remote_servers=MemoryRemoteServers(self.memory),
            server_credentials=MemoryCredentials(self.memory, MCP_SERVERS),
            server_connections=MemoryConnections(self.memory, MCP_SERVERS),
            server_connector=self.server_connector,
            server_lister=self.server_lister,
            client_document_url="https://ferryman.example.com/oauth/client.json",
            user_documents=MemoryUserDocuments(self.memory),
            archives=MemoryArchives(self.memory),
            clusters=MemoryClusters(self.memory),
            conversations=MemoryConversations(self.memory),
            executions=MemoryExecutions(self.memory),
            approvals=MemoryApprovals(self.memory),
            decision_signing=DecisionSigning(ApiKeyVersions(), {1: derive_decision_public_key(API_KEY)}),
            purpose_keys=DerivedPurposeKeys(ApiKeyVersions(), {1}),
            files=self.files,
            file_quotas=MemoryFileQuotas(self.memory),
            keyed=MemoryKeyedRequests(self.memory),
            ledger=MemoryLedger(self.memory),
            alerts=MemoryAlerts(self.memory),
            usage=MemoryUsage(self.memory),
            halts=MemoryHalts(self.memory),
            jobs=MemoryJobs(self.memory),
            job_queue=self.job_queue,
            queue=self.queue,
            schedules=MemorySchedules(self.memory),
            streams=MemoryStreams(self.memory),
            timers=self.timers,
            sealer=sealer,
            info=seal.build_credential_info,
            prove=lambda connection, proof: sealer.seal(seal.encode_proof(proof), seal.build_connection_info(connection)),
            receipt_keys=self.receipt_keys,
            decision_keys={1: derive_decision_public_key(API_KEY)},
            names=TableNames(NAMES),
            clock=self.clock,
            ids=self.ids,
            tracer=self.log,
            tools=tuple(TOOLS.values()),
            documents=self,
            neutralize=neutralize_unframed,
            plans=PLANS,
            integrations=INTEGRATIONS,
            models=PRICES,
            poll_s=0.001,
            resource=RESOURCE,
            access_tokens=AccessTokenReader(ISSUER, RESOURCE.url, self.authority, self.clock),
            answer_wait_s=self.answer_wait_s,
            direct_links=True,
        )

    def owner(self, name: str, plan: str = "pro") -> dict[str, str]:
        """Store the owner `name`, with a second workspace and agent beside the default ones, and return the owner's headers."""
        if name not in self.keys:
            self.keys[name] = keys.generate_key()
            self.memory.owners[name] = Owner(id=name, plan=plan, created_at=START)
            self.memory.keys[keys.digest_key(self.keys[name])] = ApiKey(owner=name, created_at=START)
            second = Workspace(
                id=f"ws_{name}", owner=name, name="Second", imported=IMPORTED, created_at=START, updated_at=START
            )
            self.memory.workspaces[second.id] = second
            place = derive_default_workspace(name)
            unchanged = build_default_agent(name, place)
            self.memory.agents[f"agent_{name}"] = replace(unchanged, id=f"agent_{name}", name="Second")
            pin = ToolPin(tool="search", name="tracker__search", state=PinState.NEW, pending=DIGEST)
            server = build_server(id=f"mcp_{name}", owner=name, workspace=place, agent=f"agent_{name}", pins=(pin,))
            self.memory.mcp_servers[server.id] = server
            self.memory.jobs[f"job_{name}"] = build_job(name)
            conversation, messages = build_conversation(name)
            self.memory.conversations[conversation.id] = conversation
            self.memory.messages[conversation.id] = {message.number: message for message in messages}
            self._let_in(name)
            self._have_asked(name)
            self._keep_file(place)
        return {"Authorization": f"Bearer {self.keys[name]}"}

    def _keep_file(self, workspace: str) -> None:
        """Keep a file in the bucket, which was there before anybody counted."""
        key, content = f"workspaces/{workspace}/notes.md", b"Notes."
        file = Object(
            key=key,
            size_bytes=len(content),
            version="0",
            updated_at=START,
            content_type="application/octet-stream",
            metadata={},
        )
        self.objects._objects[key] = (file, content)

    def _have_asked(self, owner: str) -> None:
        """Have a call that a person has denied, of an execution that is gone, and one thing approved beforehand."""
        approval, standing = deny_approval(build_approval(owner)), build_standing(owner)
        self.memory.approvals[approval.id] = approval
        self.memory.standing_approvals[standing.id] = standing

    def _let_in(self, owner: str) -> None:
        """Have a member with an API key in the owner's default workspace, and two more who were invited."""
        place = {"owner": owner, "workspace": derive_default_workspace(owner)}
        person = Person(id=f"person_{owner}", owner=owner, name="Bea", created_at=START)
        self.memory.people[person.id] = person
        membership = Membership(**place, person=person.id, role=Role.OPERATOR, created_at=START)
        self.memory.memberships[place["workspace"], person.id] = membership
        key = ApiKey(**place, id=f"key_{owner}", person=person.id, created_at=START)
        self.memory.keys[f"digest of {owner}"] = key
        session = build_session(f"sess_{owner}", key, f"digest of {owner}", browser="Browser/1.0", now=START)
        self.memory.console_sessions[session.id] = session
        identity = AccessToken(issuer=ISSUER, subject=f"subject of {owner}", scopes=frozenset())
        self.memory.keys[identity.digest] = ApiKey(
            **place, id=f"identity_{owner}", issuer=identity.issuer, subject=identity.subject, created_at=START
        )
        for digest, name in ((f"digest of {owner}", f"inv_{owner}"), (keys.digest_key(TOKEN), f"inv_second_{owner}")):
            self.memory.invitations.setdefault(
                digest,
                Invitation(
                    **place,
                    id=name,
                    name="Cleo",
                    role=Role.VIEWER,
                    invited_by="",
                    created_at=START,
                    expires_at=START + INVITATION_LIFETIME,
                ),
            )

    def member(
        self,
        role: Role = Role.ADMIN,
        *,
        owner: str = "ann",
        approves: bool = False,
        scopes: Iterable[Right] = Right,
        workspace: str | None = None,
    ) -> dict[str, str]:
        """Make a person who is a member of the owner's workspace, the default one without a name, and return their headers."""
        number, key = len(self.memory.memberships), keys.generate_key()
        place = {"owner": owner, "person": f"person_{number}", "workspace": workspace or derive_default_workspace(owner)}
        self.memory.people[place["person"]] = Person(id=place["person"], owner=owner, name=f"Person {number}", created_at=START)
        self.memory.memberships[place["workspace"], place["person"]] = Membership(
            **place, role=role, approves=approves, created_at=START
        )
        self.memory.keys[keys.digest_key(key)] = ApiKey(**place, id=f"key_{number}", scopes=tuple(scopes), created_at=START)
        return {"Authorization": f"Bearer {key}"}


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


@cache
def get_first_app() -> FastAPI:
    """Return the app whose routes and description all apps of the tests share: FastAPI analyses them again for each app."""
    return api.create(Stage().deps())


def create_app(deps: ApiDependencies) -> FastAPI:
    """Return the API of `deps`: routes and description know nothing of it but what the app's state holds."""
    app, first = api.create(deps), get_first_app()
    app.router.routes, app.state.groups = first.router.routes, first.state.groups
    app.openapi = first.openapi  # type: ignore[method-assign] # as the product sets it
    return app


@pytest.fixture
def app(stage: Stage) -> FastAPI:
    return create_app(stage.deps())


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

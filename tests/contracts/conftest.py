"""The stores: each port twice, in memory and on Google's clients with the local cloud behind them, under one suite."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ferryman.domain.remote_servers.server import RemoteServer
from ferryman.domain.workspaces.workspace import BEGINNING, Workspace
from ferryman.inmemory.agents import MemoryAgents
from ferryman.inmemory.alerts import MemoryAlerts
from ferryman.inmemory.api_keys import MemoryApiKeys
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.inmemory.archives import MemoryArchives
from ferryman.inmemory.audit import MemoryAuditEntries
from ferryman.inmemory.clusters import MemoryClusters
from ferryman.inmemory.console_sessions import MemoryConsoleSessions
from ferryman.inmemory.contexts import MemoryContexts
from ferryman.inmemory.conversations import MemoryConversations
from ferryman.inmemory.credentials import MCP_SERVERS, MemoryConnections, MemoryCredentials
from ferryman.inmemory.executions import MemoryExecutions
from ferryman.inmemory.file_quotas import MemoryFileQuotas
from ferryman.inmemory.invitations import MemoryInvitations
from ferryman.inmemory.job_work import MemoryJobWork
from ferryman.inmemory.jobs import MemoryJobs
from ferryman.inmemory.keyed import MemoryKeyedRequests
from ferryman.inmemory.members import MemoryMembers
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.nonces import MemoryNonces
from ferryman.inmemory.owners import MemoryHalts, MemoryLedger, MemoryOwners, MemoryStreams
from ferryman.inmemory.past_messages import MemoryPastMessages
from ferryman.inmemory.queue import MemoryKeptTimers, MemoryQueue, MemoryTimers
from ferryman.inmemory.remote_servers import MemoryRemoteServers
from ferryman.inmemory.running_calls import MemoryRunningCalls
from ferryman.inmemory.schedules import MemorySchedules
from ferryman.inmemory.tasks import MemoryTasks
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.inmemory.tokens import MemoryTokens
from ferryman.inmemory.usage import MemoryUsage
from ferryman.inmemory.user_documents import MemoryUserDocuments
from ferryman.inmemory.workspaces import MemoryWorkspaces
from ferryman.ports.alerts import Alerts
from ferryman.ports.approvals import Approvals
from ferryman.ports.archives import Archives
from ferryman.ports.clusters import Clusters
from ferryman.ports.connections import Connections
from ferryman.ports.console_sessions import ConsoleSessions
from ferryman.ports.contexts import Contexts
from ferryman.ports.conversations import Conversations
from ferryman.ports.credentials import Credentials
from ferryman.ports.executions import Executions
from ferryman.ports.file_quotas import FileQuotas
from ferryman.ports.halts import Halts
from ferryman.ports.jobs import Jobs, JobWork
from ferryman.ports.kept import KeptTimers
from ferryman.ports.keyed import KeyedRequests
from ferryman.ports.metering import UsageStore
from ferryman.ports.owners import Ledger, Owners, Streams
from ferryman.ports.past_messages import PastMessages
from ferryman.ports.people import ApiKeys, AuditEntries, Invitations, Members
from ferryman.ports.platform import Nonces, RunningCalls
from ferryman.ports.queue import Queue
from ferryman.ports.remote_servers import RemoteServers
from ferryman.ports.schedules import Schedules, Timers
from ferryman.ports.tasks import Tasks
from ferryman.ports.tickets import Tickets
from ferryman.ports.tokens import Tokens as TokensPort
from ferryman.ports.user_documents import UserDocuments
from ferryman.ports.workspaces import Agents, Workspaces
from ferryman.settings import Settings

if TYPE_CHECKING:
    import grpc

INDEXES = Path(__file__).parents[2] / "infra/firestore.indexes.json"
Waiting = Callable[[], Awaitable[Sequence[tuple[str, int, float]]]]
Ask = Callable[[str, Mapping[str, Any]], Awaitable[None]]
Answer = Callable[[str], Awaitable[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores:
    """The ports of one empty deployment; `waiting` returns the deliveries in the queue: execution, slice, delay in seconds.

    `set_timers` answers of each timer whose it is, a task's, the sweep's or `kept`, and when it is due. `ask` creates the
    document of an execution as an application does, `forget` deletes it; `keep` has a workspace keep its executions for some
    days; `read_refused` returns what is left of one that was refused. `place_server`
    stores the document of an MCP server, with nothing in it.
    """

    owners: Owners
    keys: ApiKeys
    members: Members
    invitations: Invitations
    console_sessions: ConsoleSessions
    audit: AuditEntries
    workspaces: Workspaces
    jobs: Jobs
    job_work: JobWork
    agents: Agents
    approvals: Approvals
    archives: Archives
    contexts: Contexts
    conversations: Conversations
    tasks: Tasks
    credentials: Credentials
    connections: Connections
    server_credentials: Credentials
    server_connections: Connections
    clusters: Clusters
    executions: Executions
    file_quotas: FileQuotas
    keyed: KeyedRequests
    nonces: Nonces
    past_messages: PastMessages
    remote_servers: RemoteServers
    running_calls: RunningCalls
    tickets: Tickets
    user_documents: UserDocuments
    tokens: TokensPort
    ledger: Ledger
    alerts: Alerts
    usage: UsageStore
    halts: Halts
    queue: Queue
    waiting: Waiting
    schedules: Schedules
    streams: Streams
    timers: Timers
    kept_timers: KeptTimers
    set_timers: Callable[[], Awaitable[Sequence[tuple[str, datetime]]]]
    ask: Ask
    keep: Callable[[str, int], Awaitable[None]]
    forget: Callable[[str], Awaitable[None]]
    read_refused: Answer
    place_server: Callable[[str], Awaitable[None]]


def build_kept(name: str, days: int) -> Workspace:
    """Return a workspace that keeps its executions for `days`."""
    return Workspace(id=name, owner="ann", name="Paris", retention_days=days, created_at=BEGINNING, updated_at=BEGINNING)


def build_server(name: str) -> RemoteServer:
    """Return an MCP server of this id."""
    place = {"owner": "ann", "workspace": "ws_1", "agent": "agent_1", "name": "books", "url": "https://tools.example.com/mcp"}
    return RemoteServer(id=name, **place, created_at=BEGINNING, updated_at=BEGINNING)


@asynccontextmanager
async def in_memory() -> AsyncIterator[Stores]:
    memory, queue, timers, kept_timers = Memory(), MemoryQueue(), MemoryTimers(), MemoryKeptTimers()

    async def set_timers() -> Sequence[tuple[str, datetime]]:
        expiries = [("kept", datetime.combine(timer.day, time(), UTC)) for timer in kept_timers.waiting]
        return [*expiries, *((timer.fire.task if timer.fire else "sweep", timer.due) for timer in timers.waiting)]

    async def waiting() -> Sequence[tuple[str, int, float]]:
        return [(delivery.execution, delivery.slice, delivery.after.total_seconds()) for delivery in queue.waiting]

    async def ask(name: str, fields: Mapping[str, Any]) -> None:
        memory.requests[name] = fields

    async def keep(name: str, days: int) -> None:
        memory.workspaces[name] = build_kept(name, days)

    async def forget(name: str) -> None:
        del memory.executions[name]

    async def read_refused(name: str) -> Mapping[str, Any]:
        return memory.refused[name]

    async def place_server(name: str) -> None:
        memory.mcp_servers[name] = build_server(name)

    yield Stores(
        owners=MemoryOwners(memory),
        keys=MemoryApiKeys(memory),
        members=MemoryMembers(memory),
        invitations=MemoryInvitations(memory),
        console_sessions=MemoryConsoleSessions(memory),
        audit=MemoryAuditEntries(memory),
        workspaces=MemoryWorkspaces(memory),
        jobs=MemoryJobs(memory),
        job_work=MemoryJobWork(memory),
        agents=MemoryAgents(memory),
        approvals=MemoryApprovals(memory),
        archives=MemoryArchives(memory),
        contexts=MemoryContexts(memory),
        conversations=MemoryConversations(memory),
        tasks=MemoryTasks(memory),
        credentials=MemoryCredentials(memory),
        connections=MemoryConnections(memory),
        server_credentials=MemoryCredentials(memory, MCP_SERVERS),
        server_connections=MemoryConnections(memory, MCP_SERVERS),
        clusters=MemoryClusters(memory),
        executions=MemoryExecutions(memory),
        file_quotas=MemoryFileQuotas(memory),
        keyed=MemoryKeyedRequests(memory),
        nonces=MemoryNonces(memory),
        past_messages=MemoryPastMessages(memory),
        remote_servers=MemoryRemoteServers(memory),
        running_calls=MemoryRunningCalls(memory),
        tickets=MemoryTickets(memory),
        user_documents=MemoryUserDocuments(memory),
        tokens=MemoryTokens(memory),
        ledger=MemoryLedger(memory),
        alerts=MemoryAlerts(memory),
        usage=MemoryUsage(memory),
        halts=MemoryHalts(memory),
        queue=queue,
        waiting=waiting,
        schedules=MemorySchedules(memory),
        streams=MemoryStreams(memory),
        timers=timers,
        kept_timers=kept_timers,
        set_timers=set_timers,
        ask=ask,
        keep=keep,
        forget=forget,
        read_refused=read_refused,
        place_server=place_server,
    )


@asynccontextmanager
async def on_google_cloud(*interceptors: grpc.aio.ServerInterceptor) -> AsyncIterator[Stores]:
    """Yield the ports on Google's clients; each call of theirs passes `interceptors` on its way to the local cloud."""
    import grpc

    from emulator.clock import EmulatorClock
    from emulator.firestore import SERVER_OPTIONS, FirestoreEmulator
    from emulator.identity import IdentityTokens
    from emulator.tasks import CloudTasksEmulator
    from ferryman.gcp import documents
    from ferryman.gcp.agents import FirestoreAgents
    from ferryman.gcp.alerts import FirestoreAlerts
    from ferryman.gcp.api_keys import FirestoreApiKeys
    from ferryman.gcp.approvals import FirestoreApprovals
    from ferryman.gcp.archives import FirestoreArchives
    from ferryman.gcp.audit import FirestoreAuditEntries
    from ferryman.gcp.clients import GoogleClients
    from ferryman.gcp.clusters import FirestoreClusters
    from ferryman.gcp.connections import FirestoreConnections
    from ferryman.gcp.console_sessions import FirestoreConsoleSessions
    from ferryman.gcp.contexts import FirestoreContexts
    from ferryman.gcp.conversations import FirestoreConversations
    from ferryman.gcp.credentials import FirestoreCredentials
    from ferryman.gcp.executions import FirestoreExecutions
    from ferryman.gcp.file_quotas import FirestoreFileQuotas
    from ferryman.gcp.halts import FirestoreHalts
    from ferryman.gcp.invitations import FirestoreInvitations
    from ferryman.gcp.job_work import FirestoreJobWork
    from ferryman.gcp.jobs import FirestoreJobs
    from ferryman.gcp.keyed import FirestoreKeyedRequests
    from ferryman.gcp.members import FirestoreMembers
    from ferryman.gcp.nonces import FirestoreNonces
    from ferryman.gcp.owners import FirestoreLedger, FirestoreOwners, FirestoreStreams
    from ferryman.gcp.past_messages import FirestorePastMessages
    from ferryman.gcp.queue import CloudTasksKept, CloudTasksQueue, CloudTasksTimers
    from ferryman.gcp.remote_servers import FirestoreRemoteServers
    from ferryman.gcp.running_calls import FirestoreRunningCalls
    from ferryman.gcp.schedules import FirestoreSchedules
    from ferryman.gcp.tasks import FirestoreTasks
    from ferryman.gcp.tickets import FirestoreTickets
    from ferryman.gcp.tokens import FirestoreTokens
    from ferryman.gcp.usage import FirestoreUsage
    from ferryman.gcp.user_documents import FirestoreUserDocuments
    from ferryman.gcp.workspaces import FirestoreWorkspaces

    firestore = FirestoreEmulator(path=None, indexes=INDEXES)
    cloud_tasks = CloudTasksEmulator(path=None, clock=EmulatorClock(), tokens=IdentityTokens(path=None, clock=EmulatorClock()))
    server = grpc.aio.server(interceptors=interceptors, options=(*SERVER_OPTIONS, ("grpc.so_reuseport", 0)))
    server.add_generic_rpc_handlers((firestore.handler(), cloud_tasks.handler()))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await firestore.start()
    await cloud_tasks.start()
    await server.start()
    settings = Settings(
        project=f"p-{uuid.uuid4().hex[:12]}",
        firestore_host=address,
        cloud_tasks_host=address,
        queue_caller="queue@local.iam.gserviceaccount.com",
        function_urls={"orchestrator": "http://127.0.0.1:9/"},
    )
    clients = GoogleClients(settings)
    parent = f"projects/{settings.project}/locations/{settings.location}"
    name, schedules = (f"{parent}/queues/{queue_name}" for queue_name in (settings.queue, settings.schedules_queue))
    for queue in (name, schedules):
        await clients.tasks().create_queue(request={"parent": parent, "queue": {"name": queue}})
        await clients.tasks().pause_queue(request={"name": queue})  # what is enqueued stays to be looked at

    async def waiting() -> Sequence[tuple[str, int, float]]:
        tasks = [task async for task in await clients.tasks().list_tasks(request={"parent": name})]
        deliveries = []
        for task in tasks:
            execution, _, number = task.name.rpartition("/")[2].rpartition("-")
            due: Any = task.schedule_time  # a datetime, where the wrapper's stub names the message
            deliveries.append((execution, int(number), max(0.0, (due - datetime.now(UTC)).total_seconds())))
        return deliveries

    async def set_timers() -> Sequence[tuple[str, datetime]]:
        tasks = [task async for task in await clients.tasks().list_tasks(request={"parent": schedules})]
        named: list[tuple[str, Any]] = [(task.name.rpartition("/")[2], task.schedule_time) for task in tasks]
        return [(name.partition("-")[0], due) for name, due in named]

    async def ask(name: str, fields: Mapping[str, Any]) -> None:
        await clients.firestore().document("executions", name).create(dict(fields))

    async def keep(name: str, days: int) -> None:
        document = documents.write(build_kept(name, days))
        await clients.firestore().document("workspaces", name).set(document)

    async def forget(name: str) -> None:
        await clients.firestore().document("executions", name).delete()

    async def read_refused(name: str) -> Mapping[str, Any]:
        fields = (await clients.firestore().document("executions", name).get()).to_dict()
        assert fields is not None
        assert fields.pop("admitted") is False
        return fields

    async def place_server(name: str) -> None:
        await clients.firestore().document(MCP_SERVERS, name).create({})

    try:
        yield Stores(
            owners=FirestoreOwners(clients),
            keys=FirestoreApiKeys(clients),
            members=FirestoreMembers(clients),
            invitations=FirestoreInvitations(clients),
            console_sessions=FirestoreConsoleSessions(clients),
            audit=FirestoreAuditEntries(clients),
            workspaces=FirestoreWorkspaces(clients),
            jobs=FirestoreJobs(clients),
            job_work=FirestoreJobWork(clients),
            agents=FirestoreAgents(clients),
            approvals=FirestoreApprovals(clients),
            archives=FirestoreArchives(clients),
            contexts=FirestoreContexts(clients),
            conversations=FirestoreConversations(clients),
            tasks=FirestoreTasks(clients),
            credentials=FirestoreCredentials(clients),
            connections=FirestoreConnections(clients),
            server_credentials=FirestoreCredentials(clients, MCP_SERVERS),
            server_connections=FirestoreConnections(clients, MCP_SERVERS),
            clusters=FirestoreClusters(clients),
            executions=FirestoreExecutions(clients),
            file_quotas=FirestoreFileQuotas(clients),
            keyed=FirestoreKeyedRequests(clients),
            nonces=FirestoreNonces(clients),
            past_messages=FirestorePastMessages(clients),
            remote_servers=FirestoreRemoteServers(clients),
            running_calls=FirestoreRunningCalls(clients),
            tickets=FirestoreTickets(clients),
            user_documents=FirestoreUserDocuments(clients),
            tokens=FirestoreTokens(clients),
            ledger=FirestoreLedger(clients),
            alerts=FirestoreAlerts(clients),
            usage=FirestoreUsage(clients),
            halts=FirestoreHalts(clients),
            queue=CloudTasksQueue(clients, settings),
            waiting=waiting,
            schedules=FirestoreSchedules(clients),
            streams=FirestoreStreams(clients),
            timers=CloudTasksTimers(clients, settings),
            kept_timers=CloudTasksKept(clients, settings),
            set_timers=set_timers,
            ask=ask,
            keep=keep,
            forget=forget,
            read_refused=read_refused,
            place_server=place_server,
        )
    finally:
        await clients.close()
        await server.stop(0)
        await cloud_tasks.close()
        await firestore.close()
        await asyncio.sleep(0)  # lets the closed channels' own tasks end inside this loop


KINDS = {"local": in_memory, "gcp": on_google_cloud}


@pytest.fixture(params=KINDS)
async def stores(request: pytest.FixtureRequest) -> AsyncIterator[Stores]:
    async with KINDS[request.param]() as stores:
        yield stores

"""The api's root: everything behind the HTTP interface. It seals with the public key, enqueues, and can open nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ferryman import catalog
from ferryman.billing.prices import ModelPrice, Prices
from ferryman.catalog.tools import list_offered
from ferryman.checks import SharedChecks
from ferryman.domain.tasks.task import SCRIPTED
from ferryman.limiter import OwnerLimiter
from ferryman.rates import Rates
from ferryman.settings import RETENTION_DAYS, Settings
from ferryman.watching.hub import Hub

if TYPE_CHECKING:
    from ferryman.domain.credentials.connection import Connection, Proof
    from ferryman.domain.credentials.credential import Label
    from ferryman.domain.credentials.integration import Integration
    from ferryman.domain.owners.plan import Plan
    from ferryman.domain.tools.tool import Tool
    from ferryman.domain.workspaces.identity import ProtectedResource
    from ferryman.gcp.functions import FunctionClient
    from ferryman.ports.alerts import Alerts
    from ferryman.ports.approvals import Approvals
    from ferryman.ports.archives import Archives
    from ferryman.ports.authority import AccessTokens
    from ferryman.ports.clock import Clock, Ids
    from ferryman.ports.clusters import Clusters, DocumentFetcher
    from ferryman.ports.connections import Connections, Connector
    from ferryman.ports.console_sessions import ConsoleSessions
    from ferryman.ports.conversations import Conversations
    from ferryman.ports.credentials import Credentials
    from ferryman.ports.executions import Executions
    from ferryman.ports.file_quotas import FileQuotas
    from ferryman.ports.files import Files
    from ferryman.ports.gate import NameResolver
    from ferryman.ports.halts import Halts
    from ferryman.ports.jobs import JobQueue, Jobs
    from ferryman.ports.keyed import KeyedRequests
    from ferryman.ports.keys import PurposeKeys, Sealer, SigningKeys
    from ferryman.ports.live import DeliveryRelay
    from ferryman.ports.log import Tracer
    from ferryman.ports.metering import UsageStore
    from ferryman.ports.notices import Notices
    from ferryman.ports.owners import CallerIdentifier, Ledger, Owners, Streams
    from ferryman.ports.people import ApiKeys, AuditEntries, Invitations, Members
    from ferryman.ports.queue import Queue
    from ferryman.ports.remote_servers import RemoteServers, ServerLister
    from ferryman.ports.schedules import Schedules, Timers
    from ferryman.ports.server_connector import ServerConnector
    from ferryman.ports.tasks import Tasks
    from ferryman.ports.user_documents import UserDocuments
    from ferryman.ports.workspaces import Agents, Workspaces

IMPORTS_AT_ONCE = 2
"""The most that one takes is some 300 MB while it is read, and an instance has 1024."""

IMPORT_BODIES_AT_ONCE = 4
"""Bodies of imports that are in memory or still come, 24 MB each: those of the imports at work, and two more beside them."""

IMPORTS_PER_OWNER = 1
"""Of both, so that there is one left for everybody else."""

REQUESTS_PER_KEY = 4
REQUESTS_PER_OWNER = 8
"""Requests with one API key, and with all of one owner, that one instance works on. It takes 80 (infra/functions.json): one
owner cannot fill it. What another owner asks waits behind so many at each step, here and in what all instances share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiDependencies:
    """What the API is given. `info` is what a label binds at sealing; `models` are those that have a price.

    `prove` seals what a connection keeps to the key holders.
    `decision_signing` is the key that decisions of people are signed with, which opens nothing; `purpose_keys` are derived from
    the same secret, for this function alone.
    `decision_keys` are the public halves of its valid versions.
    `receipt_keys` are the public halves of what receipts were ever signed with, by version.
    """

    owners: Owners
    workspaces: Workspaces
    agents: Agents
    keys: ApiKeys
    members: Members
    invitations: Invitations
    console_sessions: ConsoleSessions
    audit: AuditEntries
    user_documents: UserDocuments
    tasks: Tasks
    credentials: Credentials
    archives: Archives
    clusters: Clusters
    connections: Connections
    connector: Connector
    remote_servers: RemoteServers
    server_credentials: Credentials
    server_connections: Connections
    server_connector: ServerConnector
    server_lister: ServerLister
    documents: DocumentFetcher
    neutralize: Callable[[str], str]
    conversations: Conversations
    executions: Executions
    approvals: Approvals
    decision_signing: SigningKeys
    purpose_keys: PurposeKeys
    files: Files
    file_quotas: FileQuotas
    keyed: KeyedRequests
    ledger: Ledger
    alerts: Alerts
    usage: UsageStore
    halts: Halts
    jobs: Jobs
    job_queue: JobQueue
    queue: Queue
    schedules: Schedules
    streams: Streams
    timers: Timers
    sealer: Sealer
    info: Callable[[Label], bytes]
    prove: Callable[[Connection, Proof], bytes]
    receipt_keys: Mapping[int, bytes]
    decision_keys: Mapping[int, bytes]
    names: NameResolver
    clock: Clock
    ids: Ids
    tracer: Tracer
    tools: tuple[Tool, ...]
    plans: Mapping[str, Plan]
    integrations: Mapping[str, Integration]
    models: Mapping[str, ModelPrice]
    usable_models: frozenset[str] | None = None
    """The models that need no key, or whose key is set; None where all can be used."""
    model_keys: Mapping[str, str] = field(default_factory=dict)
    """The names of the keys that the operator's own models need, by model."""
    retention_days: int = RETENTION_DAYS
    """How many days executions are kept after their end; 0: for ever."""
    is_local: bool = False
    """Whether it is served on this machine alone, without TLS."""
    poll_s: float = 0.5
    answer_wait_s: float = 50.0
    """How many seconds a request that does not stream waits for its answer at most."""
    client_document_url: str = ""
    """Where our client ID metadata document is, "" where nobody outside can read it."""
    direct_links: bool = False
    """Whether direct links to files are given."""
    notices: Notices | None = None
    """What tells of changes of watched executions; without it, the store is asked every `poll_s` seconds."""
    callers: CallerIdentifier | None = None
    """Who may have it `warm`: connect, and import what a first request would wait for."""
    warm: Callable[[], Awaitable[None]] | None = None
    resource: ProtectedResource | None = None
    """This server as OAuth has it, where access tokens are accepted at /mcp."""
    access_tokens: AccessTokens | None = None
    relay: DeliveryRelay | None = None
    """What has answers delivered and tells what the model writes; without it, the queue has them delivered."""
    hub: Hub = field(init=False, repr=False)
    """The executions that are watched in this process."""
    watchers: Counter[str] = field(default_factory=Counter, repr=False)
    """How many streams of events each owner has open in this process."""
    imports: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(IMPORTS_AT_ONCE), repr=False)
    import_bodies: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(IMPORT_BODIES_AT_ONCE), repr=False)
    imports_of: OwnerLimiter = field(default_factory=lambda: OwnerLimiter(IMPORTS_PER_OWNER), repr=False)
    requests_of: OwnerLimiter = field(default_factory=lambda: OwnerLimiter(REQUESTS_PER_KEY), repr=False)
    requests_of_owner: OwnerLimiter = field(default_factory=lambda: OwnerLimiter(REQUESTS_PER_OWNER), repr=False)
    pages_of: OwnerLimiter = field(default_factory=lambda: OwnerLimiter(1), repr=False)
    """Pages of the console that are rendered, in threads: those of one owner one after the other."""
    reads_of: OwnerLimiter = field(default_factory=lambda: OwnerLimiter(REQUESTS_PER_KEY), repr=False)
    """What pages of the console read with one API key: a window of many tabs waits, and is not refused as a flood is."""
    live_of: OwnerLimiter = field(default_factory=lambda: OwnerLimiter(2), repr=False)
    """Live pages of the console that ask for what has changed: all that are open learn of one event at the same moment."""
    checks: SharedChecks = field(default_factory=SharedChecks, repr=False)
    """Whether who watches may still watch: read once for all streams of one API key."""
    noting: set[asyncio.Task[None]] = field(default_factory=set, repr=False)
    """The writes of when keys were used last that are under way."""
    openings_of: OwnerLimiter = field(default_factory=lambda: OwnerLimiter(1), repr=False)
    """Streams of events that are about to be counted: at once they would only contend for one document."""
    starts: Rates = field(default_factory=Rates, repr=False)
    import_rates: Rates = field(default_factory=Rates, repr=False)
    file_rates: Rates = field(default_factory=Rates, repr=False)

    def __post_init__(self) -> None:
        hub = Hub(self.executions, self.queue, self.tracer, notices=self.notices, relay=self.relay, poll_s=self.poll_s)
        object.__setattr__(self, "hub", hub)


def build_api(settings: Settings) -> ApiDependencies:
    """Return the API's dependencies on Google Cloud. Raise `MisconfiguredError` when the settings do not describe one."""
    from ferryman.billing.plans import load_plans
    from ferryman.gcp.agents import FirestoreAgents
    from ferryman.gcp.alerts import FirestoreAlerts
    from ferryman.gcp.api_keys import FirestoreApiKeys
    from ferryman.gcp.approvals import FirestoreApprovals
    from ferryman.gcp.archives import FirestoreArchives
    from ferryman.gcp.audit import FirestoreAuditEntries
    from ferryman.gcp.clock import RandomIds, SystemClock
    from ferryman.gcp.cloud_tasks import CloudTasksClient
    from ferryman.gcp.clusters import FirestoreClusters
    from ferryman.gcp.connecting import (
        RemoteConnector,
        RemoteDocumentFetcher,
        RemoteServerConnector,
        RemoteServerLister,
    )
    from ferryman.gcp.connections import FirestoreConnections
    from ferryman.gcp.console_sessions import FirestoreConsoleSessions
    from ferryman.gcp.conversations import FirestoreConversations
    from ferryman.gcp.credentials import FirestoreCredentials
    from ferryman.gcp.deciding import SecretManagerDecisionKeys
    from ferryman.gcp.executions import FirestoreExecutions
    from ferryman.gcp.file_quotas import FirestoreFileQuotas
    from ferryman.gcp.firestore import FirestoreClient
    from ferryman.gcp.functions import FunctionClient
    from ferryman.gcp.halts import FirestoreHalts
    from ferryman.gcp.http import HttpClient
    from ferryman.gcp.identity import MetadataIdentity, TokenCallers
    from ferryman.gcp.invitations import FirestoreInvitations
    from ferryman.gcp.jobs import FirestoreJobs
    from ferryman.gcp.keyed import FirestoreKeyedRequests
    from ferryman.gcp.log import JsonLog
    from ferryman.gcp.members import FirestoreMembers
    from ferryman.gcp.notices import FirestoreNotices
    from ferryman.gcp.owners import FirestoreLedger, FirestoreOwners, FirestoreStreams
    from ferryman.gcp.places import MCP_SERVERS
    from ferryman.gcp.queue import CloudTasksJobs, CloudTasksQueue, CloudTasksTimers
    from ferryman.gcp.relay import RemoteRelay
    from ferryman.gcp.remote_files import RemoteFiles
    from ferryman.gcp.remote_servers import FirestoreRemoteServers
    from ferryman.gcp.retention import Retention
    from ferryman.gcp.schedules import FirestoreSchedules
    from ferryman.gcp.secret_manager import SecretManagerClient
    from ferryman.gcp.tasks import FirestoreTasks
    from ferryman.gcp.usage import FirestoreUsage
    from ferryman.gcp.user_documents import FirestoreUserDocuments
    from ferryman.gcp.workspaces import FirestoreWorkspaces
    from ferryman.telemetry.traces import OtelTracer
    from ferryman.vault import seal, sign
    from ferryman.vault.decision_keys import DecisionSigning
    from ferryman.vault.purpose_keys import DerivedPurposeKeys

    wire, sealer = HttpClient(local=settings.local), seal.PublicKey.parse(settings.sealing_public_key)
    firestore, tasks, tracer = FirestoreClient(settings), CloudTasksClient(settings), OtelTracer(JsonLog(), settings)
    plans = load_plans(settings.plans)
    identity = MetadataIdentity(wire, settings)
    secret = SecretManagerDecisionKeys(SecretManagerClient(settings), settings)
    functions = FunctionClient(wire, settings.function_urls, identity.token)
    # connections of their own: streams that last would leave none for the other functions
    relays = FunctionClient(HttpClient(local=settings.local), settings.function_urls, identity.token, tracer.traceparent)

    resource = None
    if settings.oauth_resource:
        from ferryman.domain.workspaces.identity import ProtectedResource

        resource = ProtectedResource(url=settings.oauth_resource, issuer=settings.oauth_issuer)

    async def warm() -> None:
        await firestore.warm()
        await tasks.warm()

    return ApiDependencies(
        owners=FirestoreOwners(firestore),
        workspaces=FirestoreWorkspaces(firestore),
        agents=FirestoreAgents(firestore),
        keys=FirestoreApiKeys(firestore),
        members=FirestoreMembers(firestore),
        invitations=FirestoreInvitations(firestore),
        console_sessions=FirestoreConsoleSessions(firestore),
        audit=FirestoreAuditEntries(firestore),
        user_documents=FirestoreUserDocuments(firestore),
        tasks=FirestoreTasks(firestore),
        credentials=FirestoreCredentials(firestore),
        archives=FirestoreArchives(firestore, Retention.from_settings(settings)),
        clusters=FirestoreClusters(firestore),
        connections=FirestoreConnections(firestore),
        connector=RemoteConnector(functions),
        remote_servers=FirestoreRemoteServers(firestore),
        server_credentials=FirestoreCredentials(firestore, MCP_SERVERS),
        server_connections=FirestoreConnections(firestore, MCP_SERVERS),
        server_connector=RemoteServerConnector(functions),
        client_document_url=settings.client_document_url,
        server_lister=RemoteServerLister(functions),
        documents=RemoteDocumentFetcher(functions),
        neutralize=_neutralize,
        conversations=FirestoreConversations(firestore, Retention.from_settings(settings)),
        executions=FirestoreExecutions(firestore, Retention.from_settings(settings), plans),
        approvals=FirestoreApprovals(firestore),
        decision_signing=DecisionSigning(secret, sign.parse_public_keys(settings.decision_public_keys)),
        purpose_keys=DerivedPurposeKeys(secret, sign.parse_public_keys(settings.decision_public_keys)),
        decision_keys=sign.parse_public_keys(settings.decision_public_keys),
        files=RemoteFiles(functions),
        file_quotas=FirestoreFileQuotas(firestore),
        keyed=FirestoreKeyedRequests(firestore),
        ledger=FirestoreLedger(firestore),
        alerts=FirestoreAlerts(firestore),
        usage=FirestoreUsage(firestore),
        halts=FirestoreHalts(firestore),
        jobs=FirestoreJobs(firestore),
        job_queue=CloudTasksJobs(tasks, settings, tracer.traceparent),
        queue=CloudTasksQueue(tasks, settings, tracer.traceparent),
        schedules=FirestoreSchedules(firestore, plans),
        streams=FirestoreStreams(firestore),
        timers=CloudTasksTimers(tasks, settings, tracer.traceparent),
        sealer=sealer,
        info=seal.build_credential_info,
        prove=lambda connection, proof: sealer.seal(seal.encode_proof(proof), seal.build_connection_info(connection)),
        receipt_keys=sign.parse_public_keys(settings.receipt_public_keys),
        names=_names(settings),
        clock=SystemClock(),
        ids=RandomIds(),
        tracer=tracer,
        tools=list_offered(has_files=settings.has_files),
        plans=plans,
        integrations=catalog.load(settings.integrations),
        models=Prices.from_settings(settings),
        usable_models=_list_usable_models(settings),
        model_keys={name: model.key for name, model in settings.models.items() if model.key is not None},
        retention_days=settings.retention_days,
        is_local=settings.local,
        poll_s=settings.poll_s,
        direct_links=settings.direct_links,
        notices=FirestoreNotices(firestore, poll_s=settings.poll_s),
        relay=RemoteRelay(relays),
        callers=TokenCallers(wire, settings),
        warm=warm,
        resource=resource,
        access_tokens=_read_access_tokens(resource, functions),
    )


def _read_access_tokens(resource: ProtectedResource | None, functions: FunctionClient) -> AccessTokens | None:
    if resource is None:
        return None
    from ferryman.gcp.clock import SystemClock
    from ferryman.gcp.connecting import RemoteAuthorityKeys
    from ferryman.vault.access_tokens import AccessTokenReader

    return AccessTokenReader(resource.issuer, resource.url, RemoteAuthorityKeys(functions), SystemClock())


def load() -> None:
    """Import what a first request needs besides."""
    from ferryman.gcp.firestore import FirestoreClient

    FirestoreClient.load()


def _neutralize(text: str) -> str:
    # its tables of marks are made at their import, and few requests have a text of others
    from ferryman.framing.frame import neutralize_unframed

    return neutralize_unframed(text)


def _list_usable_models(settings: Settings) -> frozenset[str]:
    """Return the models that need no key, or whose key is set."""
    listed = Prices.from_settings(settings) if settings.model_key_set else (SCRIPTED, *settings.models)
    lacking = {model.name for model in settings.models.values() if model.key not in (None, *settings.model_keys_set)}
    return frozenset(listed) - lacking


def _names(settings: Settings) -> NameResolver:
    # the table of the simulated internet is for the local stack alone; settings refuse it everywhere else
    if settings.simulated_internet is not None:
        from ferryman.egress.simulated import SimulatedInternet

        return SimulatedInternet(settings.simulated_internet)
    from ferryman.egress.pin import Resolver

    return Resolver()

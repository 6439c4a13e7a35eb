"""The api's root: everything behind the HTTP interface. It seals with the public key, enqueues, and can open nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ferryman import catalog, ports
from ferryman.billing.prices import Price, Prices
from ferryman.domain.connection import Connection, Proof
from ferryman.domain.credential import Label
from ferryman.domain.integration import Integration
from ferryman.domain.plan import Plan
from ferryman.domain.tool import Tool
from ferryman.settings import Settings
from ferryman.wiring import tables, traces

IMPORTS_AT_ONCE = 2
"""The most that one takes is some 300 MB while it is read, and an instance has 1024."""


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """What the API is given. `info` is what a label binds at sealing; `models` are those that have a price.

    `prove` seals what a connection keeps to the key holders.
    `receipt_keys` are the public halves of what receipts were ever signed with, by version.
    """

    owners: ports.Owners
    tasks: ports.Tasks
    credentials: ports.Credentials
    clusters: ports.Clusters
    connections: ports.Connections
    connector: ports.Connector
    documents: ports.Documents
    tame: Callable[[str], str]
    executions: ports.Executions
    ledger: ports.Ledger
    halts: ports.Halts
    queue: ports.Queue
    schedules: ports.Schedules
    timers: ports.Timers
    sealer: ports.Sealer
    info: Callable[[Label], bytes]
    prove: Callable[[Connection, Proof], bytes]
    receipt_keys: Mapping[int, bytes]
    names: ports.Names
    clock: ports.Clock
    ids: ports.Ids
    tracer: ports.Tracer
    tools: tuple[Tool, ...]
    plans: Mapping[str, Plan]
    integrations: Mapping[str, Integration]
    models: Mapping[str, Price]
    poll_s: float = 0.5
    imports: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(IMPORTS_AT_ONCE), repr=False)


def build(settings: Settings) -> House:
    """The house on Google Cloud. Raises `Misconfigured` when the settings do not describe one."""
    from ferryman.egress.frame import harmless
    from ferryman.gcp.clock import RandomIds, SystemClock
    from ferryman.gcp.cloud_tasks import CloudTasks
    from ferryman.gcp.clusters import FirestoreClusters
    from ferryman.gcp.connecting import RemoteConnector, RemoteDocuments
    from ferryman.gcp.connections import FirestoreConnections
    from ferryman.gcp.executions import FirestoreExecutions
    from ferryman.gcp.firestore import Firestore
    from ferryman.gcp.halts import FirestoreHalts
    from ferryman.gcp.http import Wire
    from ferryman.gcp.identity import MetadataIdentity
    from ferryman.gcp.ledger import FirestoreLedger
    from ferryman.gcp.owners import FirestoreOwners
    from ferryman.gcp.queue import CloudTasksQueue, CloudTasksTimers
    from ferryman.gcp.retention import Retention
    from ferryman.gcp.schedules import FirestoreSchedules
    from ferryman.gcp.tasks import FirestoreCredentials, FirestoreTasks
    from ferryman.tools.builtin import TOOLS
    from ferryman.tools.custom.definitions import CUSTOM
    from ferryman.vault import grants, seal, sign

    wire, sealer = Wire(), seal.PublicKey.parse(settings.sealing_public_key)
    firestore, tasks, tracer = Firestore(settings), CloudTasks(settings), traces.of(settings)
    identity = MetadataIdentity(wire, settings)
    return House(
        owners=FirestoreOwners(firestore),
        tasks=FirestoreTasks(firestore),
        credentials=FirestoreCredentials(firestore),
        clusters=FirestoreClusters(firestore),
        connections=FirestoreConnections(firestore),
        connector=RemoteConnector(wire, identity, settings),
        documents=RemoteDocuments(wire, identity, settings),
        tame=harmless,
        executions=FirestoreExecutions(firestore, Retention.of(settings)),
        ledger=FirestoreLedger(firestore),
        halts=FirestoreHalts(firestore),
        queue=CloudTasksQueue(tasks, settings, tracer.traceparent),
        schedules=FirestoreSchedules(firestore),
        timers=CloudTasksTimers(tasks, settings, tracer.traceparent),
        sealer=sealer,
        info=seal.info_of,
        prove=lambda connection, proof: sealer.seal(grants.proof_written(proof), seal.connection_info(connection)),
        receipt_keys=sign.public_keys(settings.receipt_public_keys),
        names=_names(settings),
        clock=SystemClock(),
        ids=RandomIds(),
        tracer=tracer,
        tools=(*TOOLS, *CUSTOM),
        plans=tables.plans(settings),
        integrations=catalog.load(settings.integrations),
        models=Prices(settings.prices),
        poll_s=settings.poll_s,
    )


def _names(settings: Settings) -> ports.Names:
    # the table of the pretend internet is for the local stack alone; settings refuse it everywhere else
    if settings.pretend_internet is not None:
        from ferryman.egress.local import Pretend

        return Pretend(settings.pretend_internet)
    from ferryman.egress.resolve import Resolver

    return Resolver()

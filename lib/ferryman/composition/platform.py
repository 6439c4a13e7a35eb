"""The composition root of `platform`: the platform's tools, what they read and change, and the checks of who asks."""

from __future__ import annotations

from datetime import datetime

from ferryman import catalog
from ferryman.billing.plans import load_plans
from ferryman.composition.request_keys import build_request_keys
from ferryman.domain.tasks.task import Task
from ferryman.gcp.agents import FirestoreAgents
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.clock import SystemClock
from ferryman.gcp.conversations import FirestoreConversations
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.halts import FirestoreHalts
from ferryman.gcp.http import HttpClient
from ferryman.gcp.identity import TokenCallers
from ferryman.gcp.log import JsonLog
from ferryman.gcp.members import FirestoreMembers
from ferryman.gcp.nonces import FirestoreNonces
from ferryman.gcp.owners import FirestoreOwners
from ferryman.gcp.past_messages import FirestorePastMessages
from ferryman.gcp.queue import CloudTasksQueue, CloudTasksTimers
from ferryman.gcp.retention import Retention
from ferryman.gcp.tasks import FirestoreTasks
from ferryman.gcp.user_documents import FirestoreUserDocuments
from ferryman.gcp.workspaces import FirestoreWorkspaces
from ferryman.ports.schedules import Timers
from ferryman.schedules.fire import arm_timer
from ferryman.settings import Settings
from ferryman.telemetry.traces import OtelTracer
from ferryman.tools.own_files import load_own_files
from ferryman.tools.platform.call import PlatformDependencies

TOOLS = load_own_files("ferryman.tools.platform")
"""The tools; each registers itself when it is imported."""


async def _arm(timers: Timers, task: Task, now: datetime) -> None:
    await arm_timer(timers, task, now=now)


class PlatformFunction:
    """What the function is made of."""

    def __init__(self, settings: Settings) -> None:
        clients = GoogleClients(settings)
        self.clients = clients
        self.callers = TokenCallers(HttpClient(local=settings.local), settings)
        self.tracer = OtelTracer(JsonLog(), settings)
        self.keys = build_request_keys(clients, settings)
        self.nonces = FirestoreNonces(clients)
        retention, plans = Retention.from_settings(settings), load_plans(settings.plans)
        self.dependencies = PlatformDependencies(
            agents=FirestoreAgents(clients),
            conversations=FirestoreConversations(clients, retention),
            executions=FirestoreExecutions(clients, retention, plans),
            halts=FirestoreHalts(clients),
            members=FirestoreMembers(clients),
            owners=FirestoreOwners(clients),
            past_messages=FirestorePastMessages(clients),
            queue=CloudTasksQueue(clients, settings, self.tracer.traceparent),
            tasks=FirestoreTasks(clients),
            timers=CloudTasksTimers(clients, settings, self.tracer.traceparent),
            user_documents=FirestoreUserDocuments(clients),
            workspaces=FirestoreWorkspaces(clients),
            arm_timer=_arm,
            clock=SystemClock(),
            plans=plans,
            integrations=frozenset(catalog.load(settings.integrations)),
        )

    def load(self) -> None:
        """Import what a first call needs besides."""
        self.clients.load()
        self.callers.load()
        OtelTracer.load()

    async def warm(self) -> None:
        """Connect, and read the key: what a first call would wait for."""
        await self.clients.warm()
        await self.keys.valid()

"""The orchestrator's root: the loop on Google Cloud. No vault in here, and no way out but to the model and the tools.

The one key it holds signs receipts: it opens nothing, and no upstream knows it."""

from __future__ import annotations

from datetime import timedelta

from ferryman import catalog
from ferryman.billing.prices import Prices
from ferryman.domain.call import ToolCall, ToolCallResult
from ferryman.gcp.clients import Clients
from ferryman.gcp.clock import SystemClock
from ferryman.gcp.clusters import FirestoreClusters
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.halts import FirestoreHalts
from ferryman.gcp.http import Wire
from ferryman.gcp.identity import MetadataIdentity, TokenCallers
from ferryman.gcp.owners import FirestoreOwners
from ferryman.gcp.queue import CloudTasksQueue, CloudTasksTimers
from ferryman.gcp.remote import RemoteTools
from ferryman.gcp.retention import Retention
from ferryman.gcp.schedules import FirestoreSchedules
from ferryman.gcp.signing import ReceiptKeys
from ferryman.gcp.tasks import FirestoreCredentials, FirestoreTasks
from ferryman.loop.house import House
from ferryman.models.anthropic import AnthropicModel
from ferryman.ports import Crossing
from ferryman.schedules.house import House as Schedules
from ferryman.settings import Settings
from ferryman.tools.registry import ToolRegistry
from ferryman.vault.seal import PublicKey, call_info
from ferryman.vault.sign import Signing, public_keys
from ferryman.wiring import tables, traces


class Orchestrator:
    """What the orchestrator function is made of: the loop's house, that of the schedules, and the check of who delivers."""

    def __init__(self, settings: Settings) -> None:
        clients, wire = Clients(settings), Wire()
        tracer = traces.of(settings)
        remote = RemoteTools(wire, MetadataIdentity(wire, settings), settings, tracer.traceparent)
        prices = Prices(settings.prices)
        public = PublicKey.parse(settings.sealing_public_key)

        async def handler(call: ToolCall, crossing: Crossing) -> ToolCallResult:
            result = await remote.run(call.name, execution=crossing.execution, seq=crossing.ticket.seq)
            crossing.carried = True
            return result

        self.callers = TokenCallers(wire, settings)
        self.loop = House(
            owners=FirestoreOwners(clients),
            tasks=FirestoreTasks(clients),
            credentials=FirestoreCredentials(clients),
            clusters=FirestoreClusters(clients),
            executions=FirestoreExecutions(clients, Retention.of(settings)),
            halts=FirestoreHalts(clients),
            queue=CloudTasksQueue(clients, settings, tracer.traceparent),
            model=AnthropicModel(settings),
            scanner=remote,
            registry=ToolRegistry(handler),
            signing=Signing(ReceiptKeys(clients, settings), public_keys(settings.receipt_public_keys)),
            clock=SystemClock(),
            tracer=tracer,
            seal=lambda execution, seq, arguments: public.seal(arguments, call_info(execution, seq)),
            price=prices.of,
            plans=tables.plans(settings),
            integrations=catalog.load(settings.integrations),
            lease=timedelta(seconds=settings.lease_s),
            slice=timedelta(seconds=settings.slice_s),
            patience=timedelta(seconds=settings.execution_s),
        )
        self.schedules = Schedules(
            schedules=FirestoreSchedules(clients),
            queue=self.loop.queue,
            timers=CloudTasksTimers(clients, settings, tracer.traceparent),
            clock=self.loop.clock,
            tracer=self.loop.tracer,
        )

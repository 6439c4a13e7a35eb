"""The orchestrator's root: the loop on Google Cloud. No vault in here, and no way out but to the model and the tools.

The one key it holds signs receipts: it opens nothing, and no upstream knows it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from ferryman import catalog
from ferryman.alerts.dispatch import AlertDependencies
from ferryman.billing.plans import load_plans
from ferryman.billing.prices import Prices
from ferryman.catalog.tools import EXTRACTING, FILES, FINDING, PASSING, PLATFORM, RECALLING, list_offered
from ferryman.gcp.alerts import FirestoreAlerts
from ferryman.gcp.approvals import FirestoreApprovals
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.clock import RandomIds, SystemClock
from ferryman.gcp.clusters import FirestoreClusters
from ferryman.gcp.contexts import FirestoreContexts
from ferryman.gcp.conversations import FirestoreConversations
from ferryman.gcp.credentials import FirestoreCredentials
from ferryman.gcp.discovery import RemoteDiscovery
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.file_quotas import FirestoreFileQuotas
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.functions import FunctionClient
from ferryman.gcp.halts import FirestoreHalts
from ferryman.gcp.http import HttpClient
from ferryman.gcp.identity import MetadataIdentity, TokenCallers
from ferryman.gcp.job_work import FirestoreJobWork
from ferryman.gcp.jobs import FirestoreJobs
from ferryman.gcp.log import JsonLog
from ferryman.gcp.owners import FirestoreOwners
from ferryman.gcp.queue import (
    CloudTasksAlerts,
    CloudTasksJobs,
    CloudTasksKept,
    CloudTasksQueue,
    CloudTasksTimers,
    CloudTasksUsage,
)
from ferryman.gcp.remote import RemoteAlertSender, RemoteTools, RemoteWorkCanceller
from ferryman.gcp.remote_files import RemoteFiles
from ferryman.gcp.remote_servers import FirestoreRemoteServers
from ferryman.gcp.retention import Retention
from ferryman.gcp.schedules import FirestoreSchedules
from ferryman.gcp.secret_manager import SecretManagerClient
from ferryman.gcp.signing import SecretManagerReceiptKeys
from ferryman.gcp.tasks import FirestoreTasks
from ferryman.gcp.tickets import FirestoreTickets
from ferryman.gcp.usage import FirestoreUsage
from ferryman.gcp.workspaces import FirestoreWorkspaces
from ferryman.halting import HaltWatch
from ferryman.jobs.dependencies import SLICE, JobDependencies
from ferryman.loop.dependencies import LoopDependencies
from ferryman.metering.roll_up import MeteringDependencies
from ferryman.models.anthropic import AnthropicModel
from ferryman.schedules.fire import ScheduleDependencies
from ferryman.settings import Settings
from ferryman.telemetry.traces import OtelTracer
from ferryman.tools.approving.confirming import ApprovingDependencies
from ferryman.tools.extracting.asking import QuarantinedModel
from ferryman.tools.extracting.extract import EXTRACTION_S, Extractions
from ferryman.tools.files.hook import FileHook
from ferryman.tools.finding.find_tools import ToolSearchCalls
from ferryman.tools.keeping.answered import AnsweredCalls
from ferryman.tools.keeping.expiry import ExpiryDependencies
from ferryman.tools.keeping.room import FileRoom
from ferryman.tools.keeping.storing import KEEPING_S, KeptFiles
from ferryman.tools.keyless.calling import KeylessCalls
from ferryman.tools.keyless.keeping import ResultFiles
from ferryman.tools.passing.pass_call import ask_for_call
from ferryman.tools.platform.hook import PlatformHook
from ferryman.tools.recalling.read_result import ResultReadings
from ferryman.tools.registry import ToolRegistry
from ferryman.tools.waiting.wait_until import WaitCalls
from ferryman.tools.web.arguments import READING_S, SECONDS_MAX
from ferryman.tools.web.hook import WebHook
from ferryman.vault.decisions import PublishedKeys
from ferryman.vault.seal import PublicKey, build_call_info
from ferryman.vault.sign import ReceiptSigning, parse_public_keys


class OrchestratorFunction:
    """What the orchestrator function is made of: the dependencies of the loop, the jobs and the schedules, and the check of who
    delivers."""

    def __init__(self, settings: Settings) -> None:
        clients, wire = GoogleClients(settings), HttpClient(local=settings.local)
        self.clients, self.model = clients, AnthropicModel(settings)
        tracer = OtelTracer(JsonLog(), settings)
        token = MetadataIdentity(wire, settings).token
        functions = FunctionClient(wire, settings.function_urls, token, tracer.traceparent)
        remote = RemoteTools(functions)
        prices, plans = Prices.from_settings(settings), load_plans(settings.plans)
        public = PublicKey.parse(settings.sealing_public_key)

        clock, execution_timeout = SystemClock(), timedelta(seconds=settings.execution_s)
        keeps, retention = settings.has_files, Retention.from_settings(settings)
        keeping_s = KEEPING_S if keeps else 0.0
        tickets = FirestoreTickets(clients, request_s=settings.request_s + keeping_s)
        room = FileRoom(files=RemoteFiles(functions), quotas=FirestoreFileQuotas(clients), clock=clock)
        kept_timers = CloudTasksKept(clients, settings, tracer.traceparent)
        files = KeptFiles(room=room, timers=kept_timers, period=retention.period) if keeps else None
        approvals, decisions = FirestoreApprovals(clients), PublishedKeys(parse_public_keys(settings.decision_public_keys))
        keyless = KeylessCalls(
            tickets=tickets,
            scanner=remote,
            clock=clock,
            ask=remote.ask,
            hooks={FILES: FileHook(room=room), PLATFORM: PlatformHook()},
            results=None if files is None else ResultFiles(files=files, scanner=remote),
            halt_watch=HaltWatch(FirestoreHalts(clients), tracer),
            approving=ApprovingDependencies(
                approvals=approvals,
                verifier=decisions,
                clock=clock,
            ),
        )
        # a page may take longer than any other call
        page_tickets = FirestoreTickets(clients, request_s=max(settings.request_s, SECONDS_MAX + READING_S) + keeping_s)
        page_calls = replace(keyless, tickets=page_tickets, hooks={"web": WebHook(keeps)})
        waits = WaitCalls(clock=clock, execution_timeout=execution_timeout)
        clusters, servers = FirestoreClusters(clients), FirestoreRemoteServers(clients)
        executions = FirestoreExecutions(clients, retention, plans)
        answered = AnsweredCalls(run=remote.run, executions=executions, clock=clock, files=files)
        searches = ToolSearchCalls(
            tickets=tickets,
            scanner=remote,
            clock=clock,
            clusters=clusters,
            executions=executions,
            remote_servers=servers,
        )
        conversations = FirestoreConversations(clients, retention)
        readings = ResultReadings(
            tickets=tickets, scanner=remote, clock=clock, conversations=conversations, executions=executions
        )
        extractions = Extractions(
            tickets=FirestoreTickets(clients, request_s=EXTRACTION_S),
            scanner=remote,
            clock=clock,
            executions=executions,
            quarantined=QuarantinedModel(model=self.model, halt_watch=HaltWatch(FirestoreHalts(clients), tracer)),
            price=prices.find,
        )
        kinds = {
            **dict.fromkeys(("concierge", FILES, "local_function", PLATFORM, "search"), keyless.execute),
            "web": page_calls.execute,
            "waiting": waits.execute,
            FINDING: searches.execute,
            PASSING: ask_for_call,
            EXTRACTING: extractions.execute,
            RECALLING: readings.execute,
        }

        self.callers = TokenCallers(wire, settings)
        self.retry_after_s = settings.retry_after_s
        self.loop = LoopDependencies(
            owners=FirestoreOwners(clients),
            tasks=FirestoreTasks(clients),
            credentials=FirestoreCredentials(clients),
            contexts=FirestoreContexts(clients),
            clusters=clusters,
            conversations=conversations,
            executions=executions,
            approvals=approvals,
            decisions=decisions,
            jobs=FirestoreJobs(clients),
            halts=FirestoreHalts(clients),
            queue=CloudTasksQueue(clients, settings, tracer.traceparent),
            alerts=CloudTasksAlerts(clients, settings, tracer.traceparent),
            metering=CloudTasksUsage(clients, settings, tracer.traceparent),
            model=self.model,
            scanner=remote,
            registry=ToolRegistry(answered.execute, kinds, offered=list_offered(has_files=settings.has_files)),
            signing=ReceiptSigning(
                SecretManagerReceiptKeys(clients, settings), parse_public_keys(settings.receipt_public_keys)
            ),
            clock=clock,
            tracer=tracer,
            seal=lambda execution, seq, arguments: public.seal(arguments, build_call_info(execution, seq)),
            price=prices.find,
            plans=plans,
            integrations=catalog.load(settings.integrations),
            lease=timedelta(seconds=settings.lease_s),
            slice=timedelta(seconds=settings.slice_s),
            execution_timeout=execution_timeout,
            discovery=RemoteDiscovery(functions),
            remote_servers=servers,
            remote_work=RemoteWorkCanceller(functions),
        )
        self.jobs = JobDependencies(
            jobs=self.loop.jobs,
            work=FirestoreJobWork(clients),
            files=RemoteFiles(functions) if settings.has_files else None,
            executions=executions,
            queue=self.loop.queue,
            job_queue=CloudTasksJobs(clients, settings, tracer.traceparent),
            signing=self.loop.signing,
            clock=clock,
            tracer=tracer,
            lease=timedelta(seconds=settings.lease_s),
            slice=min(SLICE, timedelta(seconds=settings.slice_s)),
        )
        self.alerts = AlertDependencies(
            alerts=FirestoreAlerts(clients),
            queue=self.loop.alerts,
            sender=RemoteAlertSender(functions),
            clock=clock,
            tracer=tracer,
        )
        expiry = ExpiryDependencies(
            files=room.files,
            quotas=room.quotas,
            workspaces=FirestoreWorkspaces(clients),
            timers=kept_timers,
            clock=clock,
            ids=RandomIds(),
            tracer=tracer,
            period=retention.period,
        )
        self.expiry = expiry if keeps else None
        self.metering = MeteringDependencies(
            usage=FirestoreUsage(clients), queue=self.loop.metering, clock=clock, tracer=tracer
        )
        self.schedules = ScheduleDependencies(
            schedules=FirestoreSchedules(clients, plans),
            queue=self.loop.queue,
            timers=CloudTasksTimers(clients, settings, tracer.traceparent),
            clock=self.loop.clock,
            tracer=self.loop.tracer,
        )

    def load(self) -> None:
        """Import what the claim and the setup of an execution need besides. The model's SDK is imported while they wait for
        the store, and what asks Cloud Tasks at the end of a slice."""
        FirestoreClient.load()
        self.callers.load()
        SecretManagerClient.load()
        OtelTracer.load()

    async def warm(self) -> None:
        """Connect, and import the model's SDK: what a first execution would wait for."""
        await self.clients.warm()
        await self.loop.signing.key()
        await self.model.connect()

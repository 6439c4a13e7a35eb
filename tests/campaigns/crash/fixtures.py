"""Fixtures: the dependencies of a scenario on any ports, with a model and upstreams that count."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Protocol

from ferryman.catalog.tools import EXTRACTING, FILES, FINDING, PASSING, PLATFORM, RECALLING
from ferryman.domain.approvals.rules import ApprovalRule, ConfirmationMode
from ferryman.domain.calls.call import Ticket
from ferryman.domain.credentials.coverage import NOTHING, Coverage
from ferryman.domain.credentials.credential import Credential, SealedCredential, Secret
from ferryman.domain.credentials.integration import Integration
from ferryman.domain.executions.execution import Execution
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import PLANS, Plan
from ferryman.egress import checking
from ferryman.inmemory.alerts import MemoryAlertQueue
from ferryman.inmemory.clock import START
from ferryman.inmemory.clusters import MemoryClusters
from ferryman.inmemory.credentials import MemoryConnections
from ferryman.inmemory.key_store import NullSigner
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.queue import MemoryKeptTimers, MemoryTimers
from ferryman.inmemory.tokens import MemoryTokens
from ferryman.inmemory.usage import MemoryUsageQueue
from ferryman.loop.dependencies import LoopDependencies
from ferryman.ports.alerts import AlertQueue
from ferryman.ports.approvals import Approvals
from ferryman.ports.contexts import Contexts
from ferryman.ports.conversations import Conversations
from ferryman.ports.credentials import Credentials
from ferryman.ports.executions import Executions
from ferryman.ports.file_quotas import FileQuotas
from ferryman.ports.gate import FetchGate
from ferryman.ports.halts import Halts
from ferryman.ports.jobs import Jobs
from ferryman.ports.keys import PrivateKeys as KeysPort
from ferryman.ports.metering import UsageStore
from ferryman.ports.model import ReplyScanner as ScannerPort
from ferryman.ports.owners import Ledger, Owners
from ferryman.ports.queue import Queue
from ferryman.ports.remote_servers import RemoteServers
from ferryman.ports.tasks import Tasks
from ferryman.ports.tickets import Tickets
from ferryman.ports.user_documents import UserDocuments
from ferryman.ports.workspaces import Agents
from ferryman.tools.approving.confirming import ApprovingDependencies
from ferryman.tools.execute_call import ToolDependencies
from ferryman.tools.extracting.asking import QuarantinedModel
from ferryman.tools.extracting.extract import Extractions
from ferryman.tools.finding.find_tools import ToolSearchCalls
from ferryman.tools.keyless.calling import KeylessCalls
from ferryman.tools.keyless.hook import CallHook
from ferryman.tools.passing.pass_call import ask_for_call
from ferryman.tools.platform.hook import PlatformHook
from ferryman.tools.prepared_call import make_builtin_preparer
from ferryman.tools.recalling.read_result import ResultReadings
from ferryman.tools.registry import ToolRegistry
from ferryman.tools.waiting.wait_until import WaitCalls
from ferryman.tools.web.hook import WebHook
from ferryman.vault.seal import PublicKey, build_call_info, build_credential_info, derive_public_key
from ferryman.vault.vault import Vault
from tests.builders import build_label, build_task
from tests.campaigns.crash import bucket, platform
from tests.campaigns.crash.agents import name_place, store_agent, store_others
from tests.campaigns.crash.chats import store_chat
from tests.campaigns.crash.deciding import DECISIONS
from tests.campaigns.crash.local_functions import LocalFunctions, Tally
from tests.campaigns.crash.pace import LivePace, PacedScanner
from tests.campaigns.crash.peers import PRICES, Clock, ScriptedModel
from tests.campaigns.crash.platform import CatalogListing, PlatformTools
from tests.campaigns.crash.points import InstrumentedPort, Meet, instrument
from tests.campaigns.crash.scenarios import HOOK, KEY, KEYED, PLAIN, SERVER_HOST, Scenario
from tests.plain_gate import pass_unscanned, redact_plainly

LEASE = timedelta(seconds=30)
TIMEOUT = timedelta(minutes=25)
PUBLIC = "25.0.0.9"
NAMES = {host: [PUBLIC] for host in (PLAIN, KEYED, HOOK, SERVER_HOST, "api.other.test")}
PRIVATE = bytes(range(96))
NEVER_ASKED = ApprovalRule(mode=ConfirmationMode.NEVER)
POSTS_ASKED = ApprovalRule(mode=ConfirmationMode.ALWAYS, methods=("POST",))
"""The rule of a scenario in which a person decides; of every other one it is that nobody is asked."""
"""The sealing key: every process of a run has to have the same."""
SEALER = PublicKey(1, derive_public_key(PRIVATE))
INTEGRATIONS = {
    name: Integration(id=name, name=name, description="", category="", allowed_domains=(host,), idempotency_header=header)
    for name, host, header in (("plain", PLAIN, None), ("keyed", KEYED, "Idempotency-Key"))
}
SECRETS = {KEY: ("plain", PLAIN, "Zq8kP2vN5xW9rT4mLb7c"), "KEYED_KEY": ("keyed", KEYED, "Hs3jD6fG1aQ0wE5yUi2o")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The ports of one store."""

    owners: Owners
    contexts: Contexts
    conversations: Conversations
    agents: Agents
    tasks: Tasks
    credentials: Credentials
    executions: Executions
    approvals: Approvals
    file_quotas: FileQuotas
    jobs: Jobs
    tickets: Tickets
    user_documents: UserDocuments
    halts: Halts
    ledger: Ledger
    usage: UsageStore
    ask: Callable[[str, Mapping[str, Any]], Awaitable[object]]
    """Creates the document of an execution, as an application does."""


class Remote(ScannerPort, Protocol):
    """The tool functions as the orchestrator reaches them."""

    async def run(self, ticket: Ticket, *, execution: Execution) -> Ticket: ...


class Keys:
    """`KeysPort`: the one there is."""

    async def private(self, version: int) -> bytes:
        return PRIVATE


class OpenVault:
    """A vault of which nothing is locked."""

    async def open_credential(self, sealed: SealedCredential) -> Credential:
        return Credential(label=sealed.label, secret=Secret(sealed.ciphertext.decode()))

    async def open_coverage(self, ciphertext: bytes, *, execution: str) -> Coverage:
        return Coverage.decode(ciphertext) if ciphertext else NOTHING

    async def seal_coverage(self, coverage: Coverage, *, execution: str, like: bytes) -> bytes:
        return coverage.encode()

    async def open_arguments(self, ciphertext: bytes, *, execution: str, seq: int) -> dict[str, Any]:
        arguments: dict[str, Any] = json.loads(ciphertext)
        return arguments


def seal_arguments(execution: str, seq: int, arguments: bytes) -> bytes:
    return SEALER.seal(arguments, build_call_info(execution, seq))


def unseal_arguments(execution: str, seq: int, arguments: bytes) -> bytes:
    return arguments


def build_loop_deps(
    ports: Ports,
    scenario: Scenario,
    *,
    queue: Queue,
    tally: Tally,
    clock: Clock,
    remote: Remote,
    meet: Meet,
    seal: Callable[[str, int, bytes], bytes] = seal_arguments,
    plans: Mapping[str, Plan] = PLANS,
    alerts: AlertQueue | None = None,
    files: Any = None,
    servers: RemoteServers | None = None,
) -> LoopDependencies:
    """Build the dependencies of the orchestrator, with every port instrumented; `files` is the function, if there is one, and
    `servers` are those of agents."""
    reached = InstrumentedPort(remote, "toolbox", meet)
    scheduled: Any = InstrumentedPort(ports.tasks, "platform tasks", meet)
    scheduling: Any = InstrumentedPort(MemoryTimers(), "platform timers", meet)
    tools = PlatformTools(ports, clock, scheduled, scheduling)
    local = InstrumentedPort(LocalFunctions(ports.user_documents, tally, files, tools), "local", meet)
    hooks: Mapping[str, CallHook] = {"web": WebHook(), PLATFORM: PlatformHook()}
    local_calls = instrument(KeylessCalls(tickets=ports.tickets, scanner=remote, clock=clock, ask=local.ask, hooks=hooks), meet)
    if files is not None:
        instrumented: Any = InstrumentedPort(files, FILES, meet)
        quotas: Any = InstrumentedPort(ports.file_quotas, "quotas", meet)
        timers: Any = InstrumentedPort(MemoryKeptTimers(), "timers", meet)
        hooks, results = bucket.build_keeping(instrumented, quotas, timers, local_calls.scanner, clock)
        local_calls = replace(local_calls, hooks=hooks, results=results)
    clusters, pace = MemoryClusters(Memory()), LivePace()  # nothing is declared
    searches = instrument(
        ToolSearchCalls(tickets=ports.tickets, scanner=remote, clock=clock, clusters=clusters, executions=ports.executions),
        meet,
    )
    waits = WaitCalls(clock=clock, execution_timeout=TIMEOUT)
    readings = instrument(
        ResultReadings(
            tickets=ports.tickets,
            scanner=remote,
            clock=clock,
            conversations=ports.conversations,
            executions=ports.executions,
        ),
        meet,
    )
    kinds = {
        **dict.fromkeys(("concierge", FILES, "local_function", PLATFORM, "search", "web"), local_calls.execute),
        "waiting": waits.execute,
        FINDING: searches.execute,
        RECALLING: readings.execute,
        PASSING: ask_for_call,
    }
    model = ScriptedModel(scenario, tally, clock, ports.executions, pace)
    extractions = Extractions(
        tickets=ports.tickets,
        scanner=remote,
        clock=clock,
        executions=ports.executions,
        quarantined=instrument(QuarantinedModel(model=model), meet),
        price=PRICES.find,
    )
    kinds[EXTRACTING] = instrument(extractions, meet).execute

    deps = instrument(
        LoopDependencies(
            owners=ports.owners,
            contexts=ports.contexts,
            tasks=ports.tasks,
            credentials=ports.credentials,
            clusters=clusters,
            conversations=ports.conversations,
            executions=ports.executions,
            approvals=ports.approvals,
            decisions=DECISIONS,
            jobs=ports.jobs,
            halts=ports.halts,
            queue=queue,
            alerts=alerts or MemoryAlertQueue(),
            metering=MemoryUsageQueue(),
            model=model,
            scanner=remote,
            registry=ToolRegistry(reached.run, kinds),
            signing=NullSigner(),
            clock=clock,
            tracer=RecordingLog(),
            seal=seal,
            price=PRICES.find,
            plans=plans,
            integrations=INTEGRATIONS,
            lease=LEASE,
            slice=scenario.slice,
            execution_timeout=TIMEOUT,
            pause=pace.pause,
            remote_servers=servers,
        ),
        meet,
    )
    # whose answer is lost: then its tools are not offered, as it is meant
    return replace(deps, scanner=PacedScanner(deps.scanner, pace), discovery=CatalogListing())


def build_tool_deps(ports: Ports, gate: FetchGate, *, clock: Clock, meet: Meet, keys: KeysPort | None) -> ToolDependencies:
    """Build the dependencies of a tool function, with every port instrumented; without keys nothing in it is sealed or
    scanned."""
    return instrument(
        ToolDependencies(
            tickets=ports.tickets,
            credentials=ports.credentials,
            vault=Vault(InstrumentedPort(keys, "keys", meet)) if keys else OpenVault(),
            connections=MemoryConnections(Memory()),
            tokens=MemoryTokens(Memory()),
            gate=gate,
            approving=ApprovingDependencies(
                approvals=InstrumentedPort(ports.approvals, "approvals", meet), verifier=DECISIONS, clock=clock
            ),
            prepare=make_builtin_preparer(InstrumentedPort(gate, "gate", meet), INTEGRATIONS),
            redact=checking.redact if keys else redact_plainly,
            redact_blocks=checking.scan_output if keys else pass_unscanned,
            integrations=INTEGRATIONS,
            halts=ports.halts,
            clock=clock,
            tracer=RecordingLog(),
        ),
        meet,
    )


async def store_task(ports: Ports, scenario: Scenario, *, sealing: bool = True) -> None:
    """Store the owner, the agent, the task with its credentials, the others of its conversation, and the queued execution."""
    execution, owner, task, place = "e", "o", "t", name_place(scenario)
    await ports.owners.put(Owner(id=owner, plan="pro", created_at=START))
    await store_agent(ports, scenario)
    stored = build_task(
        id=task,
        owner=owner,
        agent=place.get("agent", ""),
        name=scenario.name,
        task_prompt="Do it.",
        model="scripted/x",
        tools=(
            *("api_call", "http_get", "http_post", "http_request", "webhook"),
            *("calculator", "save_preference", "wait_until", "delete_tool_cluster", "web_search_tool", "web_fetch"),
            *("pass", "extract"),
            *(platform.SCHEDULERS if scenario.schedules else ()),
            *(() if scenario.files is None else bucket.TOOLS),
        ),
        tool_loading=scenario.tool_loading,
        integrations=("plain", "keyed", "webhook"),
        webhook_urls=(f"https://{HOOK}/registered",),
        max_credits=scenario.max_credits,
        approvals=(NEVER_ASKED if scenario.decides is None else POSTS_ASKED,),
    )
    await ports.tasks.create(stored)
    for name, (service, host, value) in SECRETS.items():
        label = build_label(owner=owner, task=task, name=name, service=service, hosts=(host,))
        ciphertext = SEALER.seal(value.encode(), build_credential_info(label)) if sealing else value.encode()
        await ports.credentials.put(
            SealedCredential(label=label, ciphertext=ciphertext, key_version=1, created_at=START, updated_at=START)
        )
    await store_others(ports, scenario)
    if scenario.requested:
        await ports.ask(execution, {"task": task, "credits_used": -500})
    elif scenario.chats:
        first = Execution(id=execution, task=task, owner=owner, created_at=START)
        await store_chat(ports, first, is_long=scenario.summarizes)
    else:
        fields = {**place, **scenario.start_fields}
        await ports.executions.start(Execution(id=execution, task=task, owner=owner, created_at=START, **fields), most=1_000)
    if not scenario.enabled:
        await ports.tasks.update(replace(stored, enabled=False), ("enabled",), since=START)

"""The functions of a deployment: the loop, and one tool function for all owners, whose caches live as long as it does.

The wire is left out: a host answers with what it was sent. Everything before and behind that is the product's own, scanners,
opened credentials and their caches included.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

from ferryman.catalog.tools import EXTRACTING, FILES, FINDING, PASSING, PLATFORM, RECALLING, find_tool
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.message import Block, Prompt, Reply
from ferryman.domain.executions.usage import Usage
from ferryman.domain.http.request import InboundResponse, OutboundRequest
from ferryman.egress import checking, checks, on_loop
from ferryman.egress.checking import CallChecker
from ferryman.egress.scanner_cache import ScannerCache
from ferryman.framing.frame import neutralize_unframed
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.clusters import MemoryClusters
from ferryman.inmemory.credentials import MemoryCredentials
from ferryman.inmemory.file_quotas import MemoryFileQuotas
from ferryman.inmemory.members import MemoryMembers
from ferryman.inmemory.past_messages import MemoryPastMessages
from ferryman.inmemory.queue import MemoryQueue, MemoryTimers
from ferryman.inmemory.tokens import MemoryTokens
from ferryman.inmemory.workspaces import MemoryWorkspaces
from ferryman.loop.dependencies import LoopDependencies
from ferryman.loop.run import deliver
from ferryman.ports.errors import RejectedError
from ferryman.ports.gate import CallPolicy
from ferryman.ports.tickets import CallRequest
from ferryman.tools.declared.calling import CustomToolDependencies, DeclaredToolDependencies
from ferryman.tools.declared.management import ClusterManager
from ferryman.tools.declared.preparing import make_custom_preparer
from ferryman.tools.execute_call import ToolDependencies, execute_call, scan_output
from ferryman.tools.extracting.asking import QuarantinedModel
from ferryman.tools.extracting.extract import Extractions
from ferryman.tools.finding.find_tools import ToolSearchCalls
from ferryman.tools.keyless.calling import KeylessCalls
from ferryman.tools.passing.pass_call import ask_for_call
from ferryman.tools.platform.hook import PlatformHook
from ferryman.tools.prepared_call import make_builtin_preparer
from ferryman.tools.recalling.read_result import ResultReadings
from ferryman.tools.registry import ToolRegistry
from ferryman.tools.web.hook import WebHook
from ferryman.vault import seal
from ferryman.vault.vault import Vault
from tests.campaigns.crash.fixtures import Ports, build_loop_deps, build_tool_deps
from tests.campaigns.crash.local_functions import LocalFunctions
from tests.campaigns.crash.platform import PlatformTools
from tests.campaigns.crash.scenarios import Scenario
from tests.campaigns.crash.simulated import KeptTally, memory_ports
from tests.campaigns.isolation.deployment import Caller, Deployment
from tests.serving.conftest import PRIVATE
from tests.tools.files.path import FilePath

DELIVERIES_MAX = 20
THINKS_S = 25
"""Seconds that a turn of the model takes: shorter than a lease, and so long that no plan's calls a minute are used up."""
CALLS_A_TURN = 6
"""As many as a turn of the loop takes."""


class SealingKeys:
    """`ports.PrivateKeys`: the one that the deployment's API seals for."""

    async def private(self, version: int) -> bytes:
        return PRIVATE


class EchoGate:
    """`ports.FetchGate` without a wire: what passes the checks is answered with its URL, and with the digest of its headers,
    by which one credential is told from another."""

    async def send(self, outbound: OutboundRequest, call: CallPolicy) -> ToolCallResult:
        checker = CallChecker(policy=call.execution, outbound=outbound, credentials=call.credentials)
        try:
            request, url, pieces = await checker.prepare_request()
            if call.count is not None and (name := await call.count(pieces)) is not None:
                raise CallRefusedError(refusal.refuse_leak(name))
        except CallRefusedError as refused:
            return await checker.build_refusal(refused.refusal)
        sent = hashlib.sha256(repr(request.headers).encode()).hexdigest()
        body = f"sent to {url}, with headers of the digest {sent}".encode()
        return await checker.build_result(InboundResponse(status=200, headers=(), body=body, size_bytes=len(body)), "n0")

    async def fetch(self, outbound: OutboundRequest, call: CallPolicy) -> InboundResponse:
        raise CallRefusedError(refusal.INTERNAL_ERROR)  # no attempt asks for anything of our own


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnsModel:
    """`ports.Model`: it asks for the calls of each turn, and then says the `ending`."""

    turns: Sequence[Sequence[tuple[str, Mapping[str, Any]]]]
    ending: str
    clock: ManualClock

    async def reply(self, prompt: Prompt) -> Reply:
        self.clock.turn(THINKS_S)
        turn = sum(message["role"] == "assistant" for message in prompt.messages)
        usage = Usage(input_tokens=100, output_tokens=10)
        if turn >= len(self.turns):
            return Reply(content=({"type": "text", "text": self.ending},), stop_reason="end_turn", usage=usage)
        blocks = [
            {"type": "tool_use", "id": f"toolu_{turn}_{index}", "name": name, "input": dict(arguments)}
            for index, (name, arguments) in enumerate(self.turns[turn])
        ]
        return Reply(content=tuple(blocks), stop_reason="tool_use", usage=usage)


async def _meet(_: str, __: str) -> None:
    """Let every call of a port pass."""


@dataclass(kw_only=True)
class Functions:
    """The orchestrator and the tool functions of a deployment."""

    deployment: Deployment
    ports: Ports = field(init=False)
    tools: ToolDependencies = field(init=False)
    custom_tools: ToolDependencies = field(init=False)
    scanners: ScannerCache = field(default_factory=lambda: ScannerCache())

    def __post_init__(self) -> None:
        memory, gate = self.deployment.stage.memory, EchoGate()
        clock = self.deployment.stage.clock
        integrations = self.deployment.stage.deps().integrations
        self.ports = memory_ports(memory)
        deps = build_tool_deps(self.ports, gate, clock=clock, meet=_meet, keys=SealingKeys())
        self.tools = replace(
            deps,
            credentials=MemoryCredentials(memory),
            tokens=MemoryTokens(memory),
            vault=Vault(SealingKeys()),
            integrations=integrations,
            prepare=make_builtin_preparer(gate, integrations),
        )
        clusters: Any = MemoryClusters(memory)
        declared = DeclaredToolDependencies(gate=gate, tokens=None, integrations=integrations)  # type: ignore[arg-type] # no tool asks for a token
        manager = ClusterManager(
            clusters=clusters,
            documents=None,  # type: ignore[arg-type] # nothing is imported
            neutralize=neutralize_unframed,
            frame=checking.frame_text,
        )
        custom = CustomToolDependencies(clusters=clusters, declared=declared, manager=manager)
        self.custom_tools = replace(self.tools, prepare=make_custom_preparer(custom))

    async def run(self, ticket: Ticket, *, execution: Execution) -> Ticket:
        """Execute a call of the orchestrator's."""
        return await self.execute(
            ticket.tool,
            CallRequest(
                execution=execution.id, seq=ticket.seq, epoch=execution.epoch, task=execution.task, owner=execution.owner
            ),
        )

    async def execute(self, tool: str, call_request: CallRequest) -> Ticket:
        """Execute a call, of anybody who asks for it."""
        function = find_tool(tool).function
        try:
            with self._serving():
                return await execute_call(self.custom_tools if function == "http_tool" else self.tools, function, call_request)
        except CallRefusedError as refused:
            raise RejectedError(refused.refusal.message) from None

    async def scan(self, execution: Execution, content: Sequence[Block]) -> Sequence[Block]:
        """Return the model's output as it may be stored."""
        return await scan_output(
            self.tools, execution=execution.id, task=execution.task, epoch=execution.epoch, content=content
        )

    async def finish(self, caller: Caller, execution: str, model: TurnsModel) -> None:
        """Run an execution to its end."""
        self.deployment.draws.side = caller.side
        with self._serving():
            for _ in range(DELIVERIES_MAX):
                current = self.deployment.stage.memory.executions[execution]
                if current.status.terminal:
                    return
                await deliver(self._build_loop(model), execution, slice=current.slice, holder="h")
        raise AssertionError("the execution did not end")

    @contextmanager
    def _serving(self) -> Iterator[None]:
        """Have this process be that of the deployment: what a process remembers is in modules."""
        on_loop.forget_pauses()
        with self.deployment.drawing(), patch.object(checks, "scanners", self.scanners):
            yield

    def _build_platform(self) -> PlatformTools:
        stage, memory = self.deployment.stage, self.deployment.stage.memory
        return PlatformTools(
            self.ports,
            stage.clock,
            self.ports.tasks,
            MemoryTimers(),
            members=MemoryMembers(memory),
            past_messages=MemoryPastMessages(memory),
            queue=MemoryQueue(),  # what it starts is looked at, and not run
            workspaces=MemoryWorkspaces(memory),
        )

    def _build_loop(self, model: TurnsModel) -> LoopDependencies:
        stage = self.deployment.stage
        deps = build_loop_deps(
            self.ports,
            Scenario(name="isolation"),
            queue=stage.queue,
            tally=KeptTally(),
            clock=stage.clock,
            remote=self,
            meet=_meet,
        )
        clusters, sealer = MemoryClusters(stage.memory), stage.deps().sealer
        local = KeylessCalls(
            tickets=self.ports.tickets,
            scanner=self,
            clock=stage.clock,
            ask=LocalFunctions(self.ports.user_documents, platform=self._build_platform()).ask,
            hooks={"web": WebHook(), PLATFORM: PlatformHook()},
        )
        searches = ToolSearchCalls(
            tickets=self.ports.tickets,
            scanner=self,
            clock=stage.clock,
            clusters=clusters,
            executions=self.ports.executions,
        )
        files = FilePath(self.ports.tickets, MemoryFileQuotas(stage.memory), stage.objects, self, stage.clock)
        kinds = {
            **dict.fromkeys(("concierge", "local_function", PLATFORM, "search", "web"), local.execute),
            FINDING: searches.execute,
        }
        kinds[RECALLING] = ResultReadings(
            tickets=self.ports.tickets,
            scanner=self,
            clock=stage.clock,
            conversations=deps.conversations,
            executions=self.ports.executions,
        ).execute
        kinds[FILES] = files.calls.execute
        kinds[PASSING] = ask_for_call
        kinds[EXTRACTING] = Extractions(
            tickets=self.ports.tickets,
            scanner=self,
            clock=stage.clock,
            executions=self.ports.executions,
            quarantined=QuarantinedModel(model=model),
            price=deps.price,
        ).execute
        return replace(
            deps,
            clusters=clusters,
            model=model,
            registry=ToolRegistry(self.run, kinds),
            integrations=self.tools.integrations,
            seal=lambda execution, seq, arguments: sealer.seal(arguments, seal.build_call_info(execution, seq)),
        )

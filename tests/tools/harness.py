"""A tool function on in-memory ports: one execution with one call, and a vault and a gate that do as a test says."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from ferryman import catalog
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.credentials.coverage import NOTHING, Coverage
from ferryman.domain.credentials.credential import Credential, Label, SealedCredential, Secret
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.message import Block
from ferryman.domain.http.request import OutboundRequest
from ferryman.inmemory.clock import START, ManualClock
from ferryman.inmemory.credentials import MemoryConnections, MemoryCredentials
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryHalts
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.inmemory.tokens import MemoryTokens
from ferryman.ports.gate import PieceTally
from ferryman.ports.tickets import CallRequest, Tickets
from ferryman.tools.execute_call import ToolDependencies, execute_call
from ferryman.tools.prepared_call import make_builtin_preparer
from tests.builders import build_execution, build_label, build_lease, build_policy, build_task, build_ticket
from tests.plain_gate import redact_plainly

KEY = "QwErTyUi"
INTEGRATIONS = catalog.load()
LABEL = build_label(name="KEY", service="coingecko", hosts=("api.coingecko.com",))
POLICY = build_policy(
    tools=("api_call", "http_get"),
    integrations=("coingecko",),
    domains=("api.coingecko.com",),
    credentials=("KEY",),
)
ARGUMENTS = {"method": "GET", "url": "https://api.coingecko.com/", "credential": "KEY"}


async def _list_names(_: str, credentials: Iterable[Credential], content: Sequence[Block]) -> Sequence[Block]:
    return [str(sorted(credential.name for credential in credentials)), *content]  # type: ignore[list-item]  # for tests to look at


@dataclass
class ToolHarness:
    """A tool function whose vault and gate do as a test says."""

    memory: Memory = field(default_factory=Memory)
    clock: ManualClock = field(default_factory=ManualClock)
    log: RecordingLog = field(default_factory=RecordingLog)
    value: str = KEY
    arguments_: Any = field(default_factory=lambda: dict(ARGUMENTS))
    sent: list[Any] = field(default_factory=list)
    within_s: list[float | None] = field(default_factory=list)
    body_max: list[int | None] = field(default_factory=list)
    answer: ToolCallResult | None = None
    pieces: dict[int, PieceTally] = field(default_factory=dict)
    tickets: Callable[[Memory], Tickets] = MemoryTickets
    sealings: Iterator[int] = field(default_factory=itertools.count)
    on_send: Callable[[OutboundRequest], Awaitable[None]] | None = None
    connects: bool = True

    def __post_init__(self) -> None:
        self.memory.executions["e"] = build_execution(status=Status.RUNNING, lease=build_lease(), policy=POLICY)
        self.memory.tasks["t"] = build_task()
        self.memory.versions["t"] = {"KEY": 1}
        self.store(LABEL)
        self.ask("api_call")

    def store(self, label: Label) -> None:
        sealed = SealedCredential(label=label, ciphertext=b"", key_version=1, created_at=START, updated_at=START)
        self.memory.credentials["t"] = {label.name: sealed}

    def ask(self, tool: str) -> None:
        self.memory.tickets["e"] = {0: build_ticket(tool=tool, display_arguments={"method": "[redacted:KEY]"})}

    @property
    def ticket(self) -> Ticket:
        return self.memory.tickets["e"][0]

    async def open_credential(self, sealed: SealedCredential) -> Credential:
        return Credential(label=sealed.label, secret=Secret(self.value))

    async def open_token(self, ciphertext: bytes, *, owner: str, key: str, fetch: str) -> Secret | None:
        return Secret(f"{owner} {key} {fetch} {ciphertext.decode()}")

    async def open_arguments(self, ciphertext: bytes, *, execution: str, seq: int) -> dict[str, Any]:
        if isinstance(self.arguments_, Exception):
            raise self.arguments_
        return self.arguments_

    async def open_coverage(self, ciphertext: bytes, *, execution: str) -> Coverage:
        await asyncio.sleep(0)  # calls of the same execution go on meanwhile
        return Coverage.decode(ciphertext.partition(b"|")[2]) if ciphertext else NOTHING

    async def seal_coverage(self, coverage: Coverage, *, execution: str, like: bytes) -> bytes:
        return b"%d|%b" % (next(self.sealings), coverage.encode())

    async def send(self, outbound, call) -> ToolCallResult:
        pieces = self.pieces.get(call.about["seq"])
        if pieces is not None and (name := await call.count(pieces)) is not None:
            return ToolCallResult.from_refusal(outbound.tool, refusal.refuse_leak(name))
        self.sent.append((outbound, call.credentials))
        call.sending.begun = self.connects
        if self.on_send is not None:
            await self.on_send(outbound)
        self.within_s.append(call.within_s)
        self.body_max.append(call.body_max)
        return self.answer or ToolCallResult(outbound.tool, "done", url="u" * 5_000, credential_used="KEY", response_status=200)

    async def execute(self, tool: str = "api_call", *, seq: int = 0) -> ToolCallResult:
        ticket = await execute_call(self.deps(), tool, CallRequest(execution="e", seq=seq, epoch=1, task="t", owner="o"))
        assert ticket.result is not None
        return ticket.result

    def deps(self) -> ToolDependencies:
        return ToolDependencies(
            tickets=self.tickets(self.memory),
            credentials=MemoryCredentials(self.memory),
            connections=MemoryConnections(self.memory),
            tokens=MemoryTokens(self.memory),
            vault=self,
            gate=self,
            prepare=make_builtin_preparer(self, INTEGRATIONS),
            redact=redact_plainly,
            redact_blocks=_list_names,
            integrations=INTEGRATIONS,
            halts=MemoryHalts(self.memory),
            clock=self.clock,
            tracer=self.log,
            poll_interval=timedelta(milliseconds=1),
        )

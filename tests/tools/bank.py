"""The far bank on doubles: one execution with one call, a vault and a gate that do as a test says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from ferryman import catalog
from ferryman.domain.call import Ticket, ToolCallResult
from ferryman.domain.credential import AuthType, Credential, Label, Sealed, Secret
from ferryman.domain.execution import Execution, Lease, Status
from ferryman.domain.http import Outbound
from ferryman.domain.plan import PRO
from ferryman.domain.remit import Remit
from ferryman.domain.task import Task
from ferryman.local.clock import START, HandClock
from ferryman.local.connections import MemoryConnections
from ferryman.local.halts import MemoryHalts
from ferryman.local.log import KeptLog
from ferryman.local.memory import Memory
from ferryman.local.tasks import MemoryCredentials
from ferryman.local.tickets import MemoryTickets
from ferryman.local.tokens import MemoryTokens
from ferryman.ports import Summons
from ferryman.tools.carry import ToolHouse, carry
from ferryman.tools.passage import builtin

KEY = "QwErTyUi"
LABEL = Label(
    owner="o", task="t", name="KEY", version=1, service="coingecko", auth_type=AuthType.BEARER, hosts=("api.coingecko.com",)
)
REMIT = Remit(
    owner="o",
    task="t",
    plan=PRO,
    tools=("api_call", "http_get"),
    integrations=("coingecko",),
    domains=("api.coingecko.com",),
    credentials=("KEY",),
)
ASKED = {"method": "GET", "url": "https://api.coingecko.com/", "credential": "KEY"}


@dataclass
class Bank:
    """A far bank whose vault and gate do as a test says."""

    memory: Memory = field(default_factory=Memory)
    clock: HandClock = field(default_factory=HandClock)
    log: KeptLog = field(default_factory=KeptLog)
    arguments_: Any = field(default_factory=lambda: dict(ASKED))
    sent: list[Any] = field(default_factory=list)
    within_s: list[float | None] = field(default_factory=list)
    answer: ToolCallResult | None = None
    on_send: Callable[[Outbound], Awaitable[None]] | None = None

    def __post_init__(self) -> None:
        lease = Lease(holder="h", epoch=1, expires_at=START + timedelta(minutes=2))
        self.memory.executions["e"] = Execution(
            id="e", task="t", owner="o", status=Status.RUNNING, created_at=START, lease=lease, remit=REMIT
        )
        self.memory.tasks["t"] = Task(
            id="t", owner="o", name="n", task_prompt="p", model="m", created_at=START, updated_at=START
        )
        self.memory.versions["t"] = {"KEY": 1}
        self.store(LABEL)
        self.ask("api_call")

    def store(self, label: Label) -> None:
        sealed = Sealed(label=label, ciphertext=b"", key_version=1, created_at=START, updated_at=START)
        self.memory.credentials["t"] = {label.name: sealed}

    def ask(self, tool: str) -> None:
        shown = {"method": "[redacted:KEY]"}
        ticket = Ticket(seq=0, step=1, call="c", tool=tool, arguments=b"", shown=shown, epoch=1, created_at=START)
        self.memory.tickets["e"] = {0: ticket}

    @property
    def ticket(self) -> Ticket:
        return self.memory.tickets["e"][0]

    async def credential(self, sealed: Sealed) -> Credential:
        return Credential(label=sealed.label, secret=Secret(KEY))

    async def token(self, ciphertext: bytes, *, owner: str, key: str, fetch: str) -> Secret | None:
        return Secret(f"{owner} {key} {fetch} {ciphertext.decode()}")

    async def arguments(self, ciphertext: bytes, *, execution: str, seq: int) -> dict[str, Any]:
        if isinstance(self.arguments_, Exception):
            raise self.arguments_
        return self.arguments_

    async def send(self, outbound, *, remit, credentials, about=None, within_s=None) -> ToolCallResult:
        self.sent.append((outbound, credentials))
        if self.on_send is not None:
            await self.on_send(outbound)
        self.within_s.append(within_s)
        return self.answer or ToolCallResult(outbound.tool, "done", url="u" * 5_000, credential_used="KEY", response_status=200)

    async def carry(self, tool: str = "api_call") -> ToolCallResult:
        return await carry(self.house(), tool, Summons(execution="e", seq=0, epoch=1, task="t", owner="o"))

    def house(self) -> ToolHouse:
        return ToolHouse(
            tickets=MemoryTickets(self.memory),
            credentials=MemoryCredentials(self.memory),
            connections=MemoryConnections(self.memory),
            tokens=MemoryTokens(self.memory),
            vault=self,
            gate=self,
            read=builtin(self, catalog.load()),
            redact=lambda credentials, text: text.replace(KEY, "[redacted:KEY]"),
            said=lambda credentials, content: [str(sorted(each.name for each in credentials)), *content],
            integrations=catalog.load(),
            halts=MemoryHalts(self.memory),
            clock=self.clock,
            tracer=self.log,
            looks=timedelta(milliseconds=1),
        )

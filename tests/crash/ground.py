"""Ground: the house a story is played in, on whatever ports, with a model and upstreams that count."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from ferryman import ports
from ferryman.billing.prices import Prices
from ferryman.domain import refusal
from ferryman.domain.call import ToolCall, ToolCallResult
from ferryman.domain.credential import AuthType, Credential, Label, Sealed, Secret
from ferryman.domain.execution import Execution
from ferryman.domain.http import Inbound, Outbound
from ferryman.domain.integration import Integration
from ferryman.domain.message import Prompt, Reply
from ferryman.domain.owner import Owner
from ferryman.domain.plan import PLANS, Plan
from ferryman.domain.refusal import Refused
from ferryman.domain.remit import Remit
from ferryman.domain.task import Task
from ferryman.egress.allow import allowed
from ferryman.egress.leaks import Scanner
from ferryman.local.clock import START
from ferryman.local.clusters import MemoryClusters
from ferryman.local.connections import MemoryConnections
from ferryman.local.log import KeptLog
from ferryman.local.memory import Memory
from ferryman.local.signing import Unsigned
from ferryman.local.tokens import MemoryTokens
from ferryman.loop.house import House
from ferryman.tools.carry import ToolHouse
from ferryman.tools.passage import Gate, builtin
from ferryman.tools.registry import ToolRegistry
from ferryman.vault.seal import PublicKey, call_info, info_of, public_of
from ferryman.vault.vault import Vault
from tests.crash.points import Crossed, Meet, crossed
from tests.crash.stories import HOOK, KEY, KEYED, PLAIN, Story, turn_of

LEASE = timedelta(seconds=30)
PATIENCE = timedelta(minutes=25)
PUBLIC = "25.0.0.9"
NAMES = {host: [PUBLIC] for host in (PLAIN, KEYED, HOOK, "api.other.test")}
PRICES = Prices({"scripted": {"input": "3", "output": "15"}})
PRIVATE = bytes(range(96))
"""The sealing key: every process of a run has to have the same."""
SEALER = PublicKey(1, public_of(PRIVATE))
INTEGRATIONS = {
    name: Integration(id=name, name=name, description="", category="", allowed_domains=(host,), idempotency_header=header)
    for name, host, header in (("plain", PLAIN, None), ("keyed", KEYED, "Idempotency-Key"))
}
SECRETS = {KEY: ("plain", PLAIN, "Zq8kP2vN5xW9rT4mLb7c"), "KEYED_KEY": ("keyed", KEYED, "Hs3jD6fG1aQ0wE5yUi2o")}


class Clock(ports.Clock, Protocol):
    """A clock the harness turns."""

    def turn(self, by: timedelta | float) -> datetime: ...


class Tally(Protocol):
    """What was seen from outside: it outlives whoever is killed."""

    def add(self, kind: str, **line: Any) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The store's ports of one house."""

    owners: ports.Owners
    tasks: ports.Tasks
    credentials: ports.Credentials
    executions: ports.Executions
    tickets: ports.Tickets
    halts: ports.Halts
    ledger: ports.Ledger


class Remote(ports.Toolbox, ports.Scanner, Protocol):
    """The tool functions as the orchestrator reaches them."""


class Keys:
    """`ports.Keys`: the one there is."""

    async def private(self, version: int) -> bytes:
        return PRIVATE


class Played:
    """`ports.Model`: plays the story, counts what it is asked, and lets the owner cancel while it thinks."""

    def __init__(self, story: Story, tally: Tally, clock: Clock, executions: ports.Executions) -> None:
        self._story, self._tally, self._clock, self._executions = story, tally, clock, executions

    async def reply(self, prompt: Prompt) -> Reply:
        turn = turn_of(prompt)
        size = len(json.dumps([prompt.system, list(prompt.tools), prompt.messages]).encode())
        price = PRICES.of(prompt.model)
        assert price is not None
        worst = price.worst(prompt_bytes=size, output_tokens=prompt.max_tokens)
        self._tally.add("asked", turn=turn, worst=str(worst))
        self._clock.turn(self._story.thinks)
        if turn == self._story.cancelled_at:
            try:
                await self._executions.cancel("e", now=self._clock.now())
            except ports.Unavailable:
                await self._executions.cancel("e", now=self._clock.now())  # an owner who is not heard asks again
        return self._story.reply(prompt)


class Wireless:
    """The gate with its wire and its scan left out: hosts are judged, and what would be sent is counted."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    async def send(
        self,
        outbound: Outbound,
        *,
        remit: Remit,
        credentials: Mapping[str, Credential],
        about: Mapping[str, Any] | None = None,
        within_s: float | None = None,
    ) -> ToolCallResult:
        named: dict[str, Any] = {"url": outbound.url, "method": outbound.method.value}
        try:
            url = allowed(outbound.tool, outbound.url, remit)
        except Refused as refused:
            return ToolCallResult.refused(outbound.tool, refused.refusal, credential=outbound.credential, **named)
        self._tally.add("effect", path=url.path, method=outbound.method.value, key=(outbound.idempotency or (None, None))[1])
        return ToolCallResult(outbound.tool, "done", credential_used=outbound.credential, response_status=200, **named)

    async def fetch(self, outbound: Outbound, **_: Any) -> Inbound:
        raise Refused(refusal.internal_fault())  # no story asks for anything of our own


class Open:
    """A vault of which nothing is locked."""

    async def credential(self, sealed: Sealed) -> Credential:
        return Credential(label=sealed.label, secret=Secret(sealed.ciphertext.decode()))

    async def arguments(self, ciphertext: bytes, *, execution: str, seq: int) -> dict[str, Any]:
        arguments: dict[str, Any] = json.loads(ciphertext)
        return arguments


def sealed(execution: str, seq: int, arguments: bytes) -> bytes:
    return SEALER.seal(arguments, call_info(execution, seq))


def unsealed(execution: str, seq: int, arguments: bytes) -> bytes:
    return arguments


def loop_house(
    doors: Ports,
    story: Story,
    *,
    queue: ports.Queue,
    tally: Tally,
    clock: Clock,
    remote: Remote,
    meet: Meet,
    seal: Callable[[str, int, bytes], bytes] = sealed,
    plans: Mapping[str, Plan] = PLANS,
) -> House:
    """The orchestrator's house, with everything that crosses a port met."""
    reached = Crossed(remote, "toolbox", meet)

    async def handler(call: ToolCall, crossing: ports.Crossing) -> ToolCallResult:
        result: ToolCallResult = await reached.run(call.name, execution=crossing.execution, seq=crossing.ticket.seq)
        crossing.carried = True
        return result

    return crossed(
        House(
            owners=doors.owners,
            tasks=doors.tasks,
            credentials=doors.credentials,
            clusters=MemoryClusters(Memory()),  # nothing of it is declared
            executions=doors.executions,
            halts=doors.halts,
            queue=queue,
            model=Played(story, tally, clock, doors.executions),
            scanner=remote,
            registry=ToolRegistry(handler),
            signing=Unsigned(),
            clock=clock,
            tracer=KeptLog(),
            seal=seal,
            price=PRICES.of,
            plans=plans,
            integrations=INTEGRATIONS,
            lease=LEASE,
            slice=story.slice,
            patience=PATIENCE,
        ),
        meet,
    )


def tool_house(doors: Ports, gate: Gate, *, clock: Clock, meet: Meet, keys: ports.Keys | None) -> ToolHouse:
    """A tool function's house, with everything that crosses a port met; without keys nothing in it is sealed or scanned."""
    return crossed(
        ToolHouse(
            tickets=doors.tickets,
            credentials=doors.credentials,
            vault=Vault(Crossed(keys, "keys", meet)) if keys else Open(),
            connections=MemoryConnections(Memory()),
            tokens=MemoryTokens(Memory()),
            gate=gate,
            read=builtin(Crossed(gate, "gate", meet), INTEGRATIONS),
            redact=lambda credentials, text: Scanner(credentials).redact(text) if keys else text,
            said=lambda credentials, content: Scanner(credentials).said(content) if keys else content,
            integrations=INTEGRATIONS,
            halts=doors.halts,
            clock=clock,
            tracer=KeptLog(),
        ),
        meet,
    )


async def furnish(doors: Ports, story: Story, *, sealing: bool = True) -> None:
    """Store the owner, the task with its credentials, and the queued execution."""
    execution, owner, task = "e", "o", "t"
    await doors.owners.put(Owner(id=owner, plan="pro", created_at=START))
    await doors.tasks.create(
        Task(
            id=task,
            owner=owner,
            name=story.name,
            task_prompt="Do it.",
            model="scripted/x",
            tools=("api_call", "http_get", "http_post", "webhook"),
            integrations=("plain", "keyed", "webhook"),
            webhook_urls=(f"https://{HOOK}/registered",),
            max_credits=story.max_credits,
            enabled=story.enabled,
            created_at=START,
            updated_at=START,
        )
    )
    for name, (service, host, value) in SECRETS.items():
        label = Label(owner=owner, task=task, name=name, version=1, service=service, auth_type=AuthType.BEARER, hosts=(host,))
        ciphertext = SEALER.seal(value.encode(), info_of(label)) if sealing else value.encode()
        await doors.credentials.put(
            Sealed(label=label, ciphertext=ciphertext, key_version=1, created_at=START, updated_at=START)
        )
    await doors.executions.create(Execution(id=execution, task=task, owner=owner, created_at=START))

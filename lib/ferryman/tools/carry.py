"""Carrying one call on the far bank: claim the ticket, open the keys, read the arguments, pass the gate, settle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ferryman import ports
from ferryman.domain import refusal
from ferryman.domain.call import Ticket, ToolCallResult
from ferryman.domain.credential import Credential, Sealed
from ferryman.domain.http import Outbound
from ferryman.domain.integration import Integration
from ferryman.domain.message import Block
from ferryman.domain.refusal import Refused
from ferryman.domain.remit import Remit
from ferryman.tools.builtin import READERS


class Gate(Protocol):
    """The only way out; answers a result whatever happens."""

    async def send(self, outbound: Outbound, *, remit: Remit, credentials: Mapping[str, Credential]) -> ToolCallResult: ...


class Vault(Protocol):
    """Opens what was sealed to the key holders. Raises `Refused` for what does not open."""

    async def credential(self, sealed: Sealed) -> Credential: ...
    async def arguments(self, ciphertext: bytes, *, execution: str, seq: int) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHouse:
    """Everything around a tool function. `redact` takes open credentials and a JSON value."""

    tickets: ports.Tickets
    credentials: ports.Credentials
    vault: Vault
    gate: Gate
    redact: Callable[[Iterable[Credential], Any], Any]
    integrations: Mapping[str, Integration]
    clock: ports.Clock
    tracer: ports.Tracer


async def carry(house: ToolHouse, tool: str, *, execution: str, seq: int, epoch: int) -> ToolCallResult:
    """The result of call `seq`, carried now or settled before. Raises `Stale` or `Unavailable`; then nothing was sent."""
    errand = await house.tickets.claim(execution, seq, epoch=epoch, tool=tool, now=house.clock.now())
    ticket = errand.ticket
    if ticket.result is not None:
        return ticket.result
    try:
        result = await _cross(house, errand, execution)
    except Exception as fault:  # noqa: BLE001 - the ticket is claimed: whatever happens, its outcome is written down
        house.tracer.line("call.fault", execution=execution, seq=seq, kind=type(fault).__name__, severity="ERROR")
        result = _refused(ticket, refusal.failed("internal fault"))
    await house.tickets.settle(execution, seq, attempt=ticket.attempt, result=result, now=house.clock.now())
    return result


async def look_through(house: ToolHouse, *, execution: str, epoch: int, content: Sequence[Block]) -> list[Any]:
    """`content` with every credential of the execution's task replaced by its name, however it is spelt."""
    task, versions = await house.tickets.scope(execution, epoch=epoch, now=house.clock.now())
    credentials = await _open(house, task, versions)
    seen: list[Any] = house.redact(credentials.values(), list(content))
    return seen


async def _cross(house: ToolHouse, errand: ports.Errand, execution: str) -> ToolCallResult:
    ticket, remit = errand.ticket, errand.remit
    try:
        arguments = await house.vault.arguments(ticket.arguments, execution=execution, seq=ticket.seq)
        credentials = await _open(house, remit.task, errand.versions)
        outbound = READERS[ticket.tool](arguments)
    except Refused as refused:
        return _refused(ticket, refused.refusal)
    usable = {name: narrow(each, remit, house.integrations) for name, each in credentials.items()}
    return await house.gate.send(outbound, remit=remit, credentials=usable)


async def _open(house: ToolHouse, task: str, versions: Mapping[str, int]) -> dict[str, Credential]:
    opened = {}
    for sealed in await house.credentials.list(task):
        name = sealed.label.name
        if sealed.label.task != task or sealed.label.version != versions.get(name):
            raise Refused(refusal.credential_unreadable(name))  # moved or rolled back
        opened[name] = await house.vault.credential(sealed)
    return opened


def narrow(credential: Credential, remit: Remit, integrations: Mapping[str, Integration]) -> Credential:
    """`credential` with the hosts that its seal, today's catalog and the execution's remit all admit."""
    label = credential.label
    current = integrations.get(label.service)
    admitted = label.name in remit.credentials and label.service in remit.integrations and current is not None
    hosts = tuple(host for host in label.hosts if current and host in current.allowed_domains) if admitted else ()
    return replace(credential, label=replace(label, hosts=hosts))


def _refused(ticket: Ticket, reason: refusal.Refusal) -> ToolCallResult:
    url, method, credential = (_text(ticket.shown.get(name)) for name in ("url", "method", "credential"))
    return ToolCallResult.refused(ticket.tool, reason, url=url, method=method, credential=credential)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None

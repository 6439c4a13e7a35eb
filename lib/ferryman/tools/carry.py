"""Carrying one call on the far bank: claim the ticket, open the keys, read the arguments, pass the gate, settle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ferryman import ports
from ferryman.domain import refusal
from ferryman.domain.call import Ticket, ToolCallResult, bounded
from ferryman.domain.credential import Credential, Sealed
from ferryman.domain.http import Outbound
from ferryman.domain.integration import Integration
from ferryman.domain.message import Block
from ferryman.domain.refusal import Refused
from ferryman.domain.remit import Remit
from ferryman.tools.builtin import READERS


class Gate(Protocol):
    """The only way out; answers a result whatever happens."""

    async def send(
        self,
        outbound: Outbound,
        *,
        remit: Remit,
        credentials: Mapping[str, Credential],
        about: Mapping[str, Any] | None = None,
    ) -> ToolCallResult: ...


class Vault(Protocol):
    """Opens what was sealed to the key holders. Raises `Refused` for what does not open."""

    async def credential(self, sealed: Sealed) -> Credential: ...
    async def arguments(self, ciphertext: bytes, *, execution: str, seq: int) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHouse:
    """Everything around a tool function.

    `redact` and `said` take open credentials and answer a text, or what the model said, with every one of them replaced by
    its name, however it is spelt.
    """

    tickets: ports.Tickets
    credentials: ports.Credentials
    vault: Vault
    gate: Gate
    redact: Callable[[Iterable[Credential], str], str]
    said: Callable[[Iterable[Credential], Sequence[Block]], Sequence[Block]]
    integrations: Mapping[str, Integration]
    clock: ports.Clock
    tracer: ports.Tracer


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A call read and ready for the gate."""

    outbound: Outbound
    credentials: Mapping[str, Credential]


async def carry(house: ToolHouse, tool: str, *, execution: str, seq: int, epoch: int) -> ToolCallResult:
    """The result of call `seq`, carried now or settled before. Raises `Stale` or `Unavailable`; then nothing was sent."""
    errand = await house.tickets.claim(execution, seq, epoch=epoch, tool=tool, now=house.clock.now())
    ticket = errand.ticket
    if ticket.result is not None:
        return ticket.result
    about = {"execution": execution, "seq": seq}
    try:
        passage = await _opened(house, errand, execution)
    except ports.Unavailable:
        await house.tickets.release(execution, seq, attempt=ticket.attempt)
        raise
    except Refused as refused:
        house.tracer.line("call.refused", tool=tool, reason=refused.refusal.reason, **about)
        result = _refused(ticket, refused.refusal)
    except Exception as fault:  # noqa: BLE001 - the ticket is claimed: whatever happens, its outcome is written down
        house.tracer.line("call.fault", kind=type(fault).__name__, severity="ERROR", **about)
        result = _refused(ticket, refusal.internal_fault())
    else:
        result = await house.gate.send(passage.outbound, remit=errand.remit, credentials=passage.credentials, about=about)
    result = bounded(result)
    await house.tickets.settle(execution, seq, attempt=ticket.attempt, result=result, now=house.clock.now())
    return result


async def look_through(house: ToolHouse, *, execution: str, epoch: int, content: Sequence[Block]) -> list[Block]:
    """What the model said, in the form that may come to rest; raises `Refused` when a credential does not open."""
    task, versions = await house.tickets.scope(execution, epoch=epoch, now=house.clock.now())
    credentials = await _open(house, task, versions)
    return list(house.said(credentials.values(), content))


async def _opened(house: ToolHouse, errand: ports.Errand, execution: str) -> Passage:
    ticket, remit = errand.ticket, errand.remit
    if ticket.tool not in remit.tools:
        raise Refused(refusal.tool_not_enabled(ticket.tool))  # whoever talks to the model is not believed
    credentials = await _open(house, remit.task, errand.versions)
    arguments = await house.vault.arguments(ticket.arguments, execution=execution, seq=ticket.seq)
    try:
        outbound = READERS[ticket.tool](arguments)
    except Refused as refused:
        # the sentence may quote a word of the arguments
        said = house.redact(credentials.values(), refused.refusal.message)
        raise Refused(replace(refused.refusal, message=said)) from None
    usable = {name: narrow(each, remit, house.integrations) for name, each in credentials.items()}
    return Passage(outbound=outbound, credentials=usable)


async def _open(house: ToolHouse, task: str, versions: Mapping[str, int]) -> dict[str, Credential]:
    opened = {}
    for sealed in await house.credentials.list(task):
        name, expected = sealed.label.name, versions.get(sealed.label.name, 0)
        if sealed.label.version > expected:
            raise ports.Unavailable("a credential was stored while this was read")
        if sealed.label.task != task or sealed.label.version < expected:
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

"""Carrying one call on the far bank: claim the ticket, open the keys, read the arguments, pass the gate, settle.

Whether a call whose outcome is unknown may be sent again is decided here, by its opened arguments: it has to be of a safe
method, or to go to a service that tells repetitions apart by a key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Protocol

from ferryman import ports
from ferryman.domain import refusal
from ferryman.domain.call import SETTLES, Ticket, ToolCallResult, bounded, unknown
from ferryman.domain.connection import Connection, Proof
from ferryman.domain.credential import Credential, Sealed
from ferryman.domain.integration import Integration
from ferryman.domain.message import Block
from ferryman.domain.refusal import Refused
from ferryman.domain.remit import Remit
from ferryman.halting import LOOKS, unless_halted
from ferryman.tools.passage import Gate, Passage, Reader, Reading, Unsent, narrow
from ferryman.tools.refresh import fresh
from ferryman.tools.tokens import kept

ATTEMPTS_MAX = 3
"""How often a call is sent, at most, when its answer is lost each time."""


class Vault(kept.Vault, Protocol):
    """Opens what was sealed to the key holders, and seals to them. Raises `Refused` for what does not open."""

    async def credential(self, sealed: Sealed) -> Credential: ...
    async def resealed(self, sealed: Sealed, *, version: int) -> Sealed: ...
    async def granted(self, credential: Credential, *, version: int) -> bytes: ...
    async def proof(self, connection: Connection) -> Proof: ...
    async def arguments(self, ciphertext: bytes, *, execution: str, seq: int) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolHouse:
    """Everything around a tool function.

    `redact` and `said` take open credentials and answer a text, or what the model said, with every one of them replaced by
    its name, however it is spelt.
    """

    tickets: ports.Tickets
    credentials: ports.Credentials
    connections: ports.Connections
    tokens: ports.Tokens
    vault: Vault
    gate: Gate
    read: Reader
    redact: Callable[[Iterable[Credential], str], str]
    said: Callable[[Iterable[Credential], Sequence[Block]], Sequence[Block]]
    integrations: Mapping[str, Integration]
    halts: ports.Halts
    clock: ports.Clock
    tracer: ports.Tracer
    looks: timedelta = LOOKS


async def carry(house: ToolHouse, tool: str, summons: ports.Summons) -> ToolCallResult:
    """The result of a call, carried now or settled before. Raises `Stale` or `Unavailable`; then nothing was sent."""
    errand = await house.tickets.claim(summons, tool=tool, now=house.clock.now())
    ticket = errand.ticket
    if ticket.result is not None:
        return ticket.result
    about = {"execution": summons.execution, "seq": summons.seq}
    try:
        passage = await _opened(house, errand, about)
    except ports.Unavailable:
        if not errand.again:
            await house.tickets.release(errand)
        raise
    except Refused as refused:
        house.tracer.line("call.refused", tool=tool, reason=refused.refusal.reason, **about)
        result = _refused(ticket, refused.refusal)
    except Exception as fault:  # noqa: BLE001 - the ticket is claimed: whatever happens, its outcome is written down
        house.tracer.line("call.fault", kind=type(fault).__name__, severity="ERROR", **about)
        result = _refused(ticket, refusal.internal_fault())
    else:
        try:
            result = await _sent(house, errand, passage, about)
        except Unsent:
            if not errand.again:
                await house.tickets.release(errand)
            raise
    if errand.again and result.blocked and unknown(doubted := _refused(ticket, refusal.in_doubt())):
        result = doubted  # it was not sent now, but it may have been before
    result, in_doubt = bounded(result), unknown(result)
    if in_doubt:
        house.tracer.line("call.in_doubt", tool=tool, severity="WARNING", **about)
    await house.tickets.settle(errand, result, now=house.clock.now(), in_doubt=in_doubt)
    return result


async def _sent(house: ToolHouse, errand: ports.Errand, passage: Passage, about: Mapping[str, Any]) -> ToolCallResult:
    """The answer, or why there is none. Raises `Stale` when there is no time left to send it in."""
    ticket = errand.ticket
    if errand.again and not (passage.repeatable and ticket.attempt <= ATTEMPTS_MAX):
        return _refused(ticket, refusal.in_doubt())
    assert ticket.deadline is not None, "a claimed ticket has a deadline"
    within_s = (ticket.deadline - SETTLES - house.clock.now()).total_seconds()
    if within_s <= 0:
        raise ports.Stale("this instance stood still for so long that the call is another's to send")
    try:
        return await unless_halted(passage.go(within_s), lambda: _stopped(house, errand), every=house.looks)
    except ports.Halted:
        house.tracer.line("call.halted", tool=ticket.tool, severity="WARNING", **about)
        return _refused(ticket, refusal.halted() if passage.safe else refusal.in_doubt(), method=passage.method)


async def _stopped(house: ToolHouse, errand: ports.Errand) -> str | None:
    return await house.halts.standing(errand.summons.owner, created=errand.created)


async def look_through(house: ToolHouse, *, execution: str, epoch: int, content: Sequence[Block]) -> list[Block]:
    """What the model said, in the form that may come to rest; raises `Refused` when a credential does not open."""
    current, versions = await house.tickets.scope(execution, epoch=epoch, now=house.clock.now())
    credentials = await _open(house, current.task, versions) | await _tokens(house, current.remit)
    return list(house.said(credentials.values(), content))


async def _opened(house: ToolHouse, errand: ports.Errand, about: Mapping[str, Any]) -> Passage:
    ticket, remit = errand.ticket, errand.remit
    if ticket.tool not in remit.enabled:
        raise Refused(refusal.tool_not_enabled(ticket.tool))  # whoever talks to the model is not believed
    credentials = await _open(house, remit.task, errand.versions) | await _tokens(house, remit)
    arguments = await house.vault.arguments(ticket.arguments, execution=errand.summons.execution, seq=ticket.seq)

    async def renewed(names: Collection[str]) -> dict[str, Credential]:
        after = await fresh(house, credentials, names=names, services=remit.integrations)
        return {name: narrow(each, remit, house.integrations) for name, each in after.items()}

    usable = {name: narrow(each, remit, house.integrations) for name, each in credentials.items()}
    reading = Reading(errand=errand, arguments=arguments, credentials=usable, renewed=renewed, about=about)
    try:
        return await house.read(reading)
    except Refused as refused:
        # the sentence may quote a word of the arguments
        said = house.redact(credentials.values(), refused.refusal.message)
        raise Refused(replace(refused.refusal, message=said)) from None


async def _open(house: ToolHouse, task: str, versions: Mapping[str, int]) -> dict[str, Credential]:
    opened = {}
    for sealed in await house.credentials.list(task):
        name, expected = sealed.label.name, versions.get(sealed.label.name, 0)
        if sealed.label.version > expected and sealed.label.version != await house.credentials.next_version(task, name) - 1:
            raise ports.Unavailable("a credential was stored while this was read")
        if sealed.label.task != task or sealed.label.version < expected:
            raise Refused(refusal.credential_unreadable(name))  # moved or rolled back
        opened[name] = await house.vault.credential(sealed)
    return opened


async def _tokens(house: ToolHouse, remit: Remit | None) -> dict[str, Credential]:
    """The tokens that were fetched for the task, where its tools fetch any: they may not leave either."""
    if remit is None or not remit.fetches:
        return {}
    return await kept.kept(house.tokens, house.vault, owner=remit.owner, task=remit.task)


def _refused(ticket: Ticket, reason: refusal.Refusal, *, method: str | None = None) -> ToolCallResult:
    url, asked, credential = (_text(ticket.shown.get(name)) for name in ("url", "method", "credential"))
    return ToolCallResult.refused(ticket.tool, reason, url=url, method=method or asked, credential=credential)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None

"""A passage: a call read and ready to be carried out, and what every reading of a call has in common."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ferryman import ports
from ferryman.domain.call import ToolCallResult
from ferryman.domain.credential import Credential
from ferryman.domain.host import covered
from ferryman.domain.http import Inbound, Outbound
from ferryman.domain.integration import Integration
from ferryman.domain.remit import Remit
from ferryman.domain.url import Malformed, parse
from ferryman.tools.builtin import READERS


class Sender(Protocol):
    """The only way out, as the tools use it: it answers a result whatever happens."""

    async def send(
        self,
        outbound: Outbound,
        *,
        remit: Remit,
        credentials: Mapping[str, Credential],
        about: Mapping[str, Any] | None = None,
        within_s: float | None = None,
    ) -> ToolCallResult: ...


class Gate(Sender, Protocol):
    """The way out for ourselves, too: `fetch` answers what came back, or raises `Refused`."""

    async def fetch(
        self,
        outbound: Outbound,
        *,
        remit: Remit,
        credentials: Mapping[str, Credential],
        about: Mapping[str, Any] | None = None,
        within_s: float | None = None,
        body_max: int | None = None,
    ) -> Inbound: ...


class Unsent(ports.Unavailable):
    """What a call needs before anything of it is sent was not to be had: the call may be made anew, whatever it does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A call ready to be carried out within so many seconds; `go` raises `Unsent` where nothing was sent.

    `repeatable` tells that doing it again has no further effect, `safe` that doing it at all has none.
    """

    go: Callable[[float], Awaitable[ToolCallResult]] = field(repr=False)
    method: str | None
    safe: bool
    repeatable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a reader is given: the errand, its opened arguments, and the task's credentials, each narrowed to its hosts.

    `renewed` answers the credentials with those of these names renewed, where they are about to expire; raises `Refused`.
    """

    errand: ports.Errand
    arguments: Mapping[str, Any] = field(repr=False)
    credentials: Mapping[str, Credential] = field(repr=False)
    renewed: Callable[[Collection[str]], Awaitable[Mapping[str, Credential]]] = field(repr=False)
    about: Mapping[str, Any]

    async def using(self, names: Collection[str]) -> Reading:
        """The same, with the credentials of these names good to be used."""
        return replace(self, credentials=await self.renewed(names)) if names else self


Reader = Callable[[Reading], Awaitable[Passage]]
"""How a function reads its calls; raises `Refused`."""


def builtin(gate: Sender, integrations: Mapping[str, Integration]) -> Reader:
    """The reader of the tools that are functions of their own."""

    async def read(reading: Reading) -> Passage:
        outbound = READERS[reading.errand.ticket.tool](reading.arguments)
        reading = await reading.using([outbound.credential] if outbound.credential is not None else [])
        return sending(gate, keyed(outbound, reading.errand, integrations), reading)

    return read


def sending(gate: Sender, outbound: Outbound, reading: Reading) -> Passage:
    """The passage of one request."""

    async def go(within_s: float) -> ToolCallResult:
        return await gate.send(
            outbound,
            remit=reading.errand.remit,
            credentials=reading.credentials,
            about=reading.about,
            within_s=within_s,
        )

    return Passage(go=go, method=outbound.method.value, safe=outbound.method.safe, repeatable=outbound.repeatable)


def keyed(outbound: Outbound, errand: ports.Errand, integrations: Mapping[str, Integration]) -> Outbound:
    """`outbound` with the key by which the service it goes to recognises a repetition, where it declares one.

    The key is made of execution and call alone, so that every attempt carries the same.
    """
    if outbound.method.safe:
        return outbound
    try:
        host = parse(outbound.url).host
    except Malformed:
        return outbound  # the gate says why it does not go out
    approved = (integrations[each] for each in errand.remit.integrations if each in integrations)
    header = next((each.idempotency_header for each in approved if covered(each.allowed_domains, host)), None)
    key = f"{errand.summons.execution}-{errand.ticket.seq}"
    return outbound if header is None else replace(outbound, idempotency=(header, key))


def narrow(credential: Credential, remit: Remit, integrations: Mapping[str, Integration]) -> Credential:
    """`credential` with the hosts that its seal, today's catalog and the execution's remit all admit."""
    label = credential.label
    current = integrations.get(label.service)
    admitted = label.name in remit.credentials and label.service in remit.integrations and current is not None
    hosts = tuple(host for host in label.hosts if current and host in current.allowed_domains) if admitted else ()
    return replace(credential, label=replace(label, hosts=hosts))

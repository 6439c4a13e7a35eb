"""The house around tokens: what fetching and keeping them needs of the world, and what one call needs of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ferryman import ports
from ferryman.domain.credential import Credential, Secret
from ferryman.domain.declared import Auth
from ferryman.domain.http import Inbound, Outbound, Text
from ferryman.domain.remit import Remit
from ferryman.tools.tokens.flights import Flights
from ferryman.tools.tokens.kept import Vault


class Gate(Protocol):
    """The only way out, for a request whose answer stays in here. Raises `Refused`; checks all that `send` checks."""

    async def fetch(
        self,
        outbound: Outbound,
        *,
        remit: Remit,
        credentials: Mapping[str, Credential],
        within_s: float | None = None,
        body_max: int | None = None,
    ) -> Inbound: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenHouse:
    """Everything around tokens, one for each process.

    `info` is what a token is bound to at sealing: its owner, its key and its fetch. `redact` takes open credentials and a text.
    """

    tokens: ports.Tokens
    gate: Gate
    vault: Vault
    sealer: ports.Sealer
    info: Callable[[str, str, str], bytes]
    redact: Callable[[Iterable[Credential], str], str]
    clock: ports.Clock
    ids: ports.Ids
    log: ports.Log
    pause: Callable[[float], Awaitable[Any]] = asyncio.sleep
    flights: Flights[Opened] = field(default_factory=lambda: Flights())


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What a token is for: one call of a tool with this `auth`, as it would go out without.

    `credentials` are all of the task, each with the hosts it may go to in this execution; `env` is None where no template may
    name the environment. `about` is added to the lines that are logged.
    """

    auth: Auth
    outbound: Outbound
    remit: Remit
    credentials: Mapping[str, Credential] = field(repr=False)
    env: Mapping[str, Text] | None = field(default=None, repr=False)
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Opened:
    """A token as the one who fetched or opened it has it, and the fetch that brought it."""

    secret: Secret = field(repr=False)
    fetch: str

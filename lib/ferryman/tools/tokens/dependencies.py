"""Dependencies of tokens: to fetch and store those of declared tools, and to redeem and renew those of consents."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from ferryman.domain.credentials.credential import Credential, Secret
from ferryman.domain.credentials.integration import Integration
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import OutboundRequest, Text
from ferryman.domain.tools.declared import Auth
from ferryman.halting import POLL_INTERVAL
from ferryman.ports.clock import Clock, Ids
from ferryman.ports.connections import Connections
from ferryman.ports.credentials import Credentials
from ferryman.ports.gate import FetchGate
from ferryman.ports.keys import Sealer, ToolVault
from ferryman.ports.log import Log, Tracer
from ferryman.ports.tokens import Tokens
from ferryman.tools.prepared_call import Redactor
from ferryman.tools.tokens.single_flight import SingleFlight

OpenToken = tuple[Secret, str]
"""A token in memory, and the name of the fetch that returned it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenDependencies:
    """What fetching and storing tokens of declared tools needs, one for each process.

    `info` returns the context that a token is sealed to: its owner, its key and its fetch. `redact` takes an owner, open
    credentials and a text.
    """

    tokens: Tokens
    gate: FetchGate
    vault: ToolVault
    sealer: Sealer
    info: Callable[[str, str, str], bytes]
    redact: Redactor
    clock: Clock
    ids: Ids
    log: Log
    pause: Callable[[float], Awaitable[Any]] = asyncio.sleep
    single_flight: SingleFlight[OpenToken] = field(default_factory=lambda: SingleFlight())


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenNeed:
    """What one call needs of tokens: the tool's auth block, the tool's own request, and what the call may send.

    `credentials` are all of the task, each with the hosts it may go to in this execution; `env` is None where no template may
    name the environment. `about` is added to the lines that are logged.
    """

    auth: Auth
    outbound: OutboundRequest
    policy: ExecutionPolicy
    credentials: Mapping[str, Credential] = field(repr=False)
    env: Mapping[str, Text] | None = field(default=None, repr=False)
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantDependencies:
    """What redeeming a consent and renewing its token needs.

    `poll_interval` is the longest pause between two polls for a renewal by another instance.
    """

    credentials: Credentials
    connections: Connections
    vault: ToolVault
    gate: FetchGate
    integrations: Mapping[str, Integration]
    clock: Clock
    tracer: Tracer
    poll_interval: timedelta = POLL_INTERVAL

"""The dependencies of the loop: ports, tables and durations, put together by the composition root."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from ferryman.domain.credentials.integration import Integration
from ferryman.domain.owners.plan import Plan
from ferryman.halting import POLL_INTERVAL, HaltWatch
from ferryman.limiter import OwnerLimiter
from ferryman.ports.alerts import AlertQueue
from ferryman.ports.approvals import Approvals, DecisionVerifier
from ferryman.ports.clock import Clock
from ferryman.ports.clusters import Clusters
from ferryman.ports.contexts import Contexts
from ferryman.ports.conversations import Conversations
from ferryman.ports.credentials import Credentials
from ferryman.ports.executions import Executions
from ferryman.ports.halts import Halts
from ferryman.ports.jobs import Jobs
from ferryman.ports.keys import SigningKeys
from ferryman.ports.log import Tracer
from ferryman.ports.metering import UsageQueue
from ferryman.ports.model import Model, ReplyScanner
from ferryman.ports.owners import Owners
from ferryman.ports.platform import ToolDiscovery
from ferryman.ports.price import TokenPrice
from ferryman.ports.queue import Queue
from ferryman.ports.registry import Registry
from ferryman.ports.remote_servers import RemoteServers
from ferryman.ports.remote_work import RemoteWork
from ferryman.ports.tasks import Tasks

SETUPS_MAX = 4
"""How many executions of one owner are set up at once: mostly they wait for the store, and what they compute takes turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopDependencies:
    """Everything the loop uses.

    `seal` takes the execution, the call's number and its arguments as JSON. `price` takes a model's name and returns None
    where it has no price.
    """

    owners: Owners
    tasks: Tasks
    credentials: Credentials
    contexts: Contexts
    clusters: Clusters
    conversations: Conversations
    executions: Executions
    approvals: Approvals
    decisions: DecisionVerifier
    jobs: Jobs
    halts: Halts
    queue: Queue
    alerts: AlertQueue
    metering: UsageQueue
    model: Model
    scanner: ReplyScanner
    registry: Registry
    signing: SigningKeys
    clock: Clock
    tracer: Tracer
    seal: Callable[[str, int, bytes], bytes]
    price: Callable[[str], TokenPrice | None]
    plans: Mapping[str, Plan]
    integrations: Mapping[str, Integration]
    lease: timedelta
    slice: timedelta
    """How long one delivery runs before it hands over to the next."""
    execution_timeout: timedelta
    """How long an execution may take in all; after it, the execution ends as timeout."""
    poll_interval: timedelta = POLL_INTERVAL
    """How often the kill switches are read while the model is waited for."""
    discovery: ToolDiscovery | None = None
    """Lists the tools of the platform's own server; None: none of them is offered."""
    remote_servers: RemoteServers | None = None
    """The MCP servers of agents; None: none of their tools is offered."""
    remote_work: RemoteWork | None = None
    """Tells MCP servers that nobody waits for their work any longer; None: they are not told."""
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    """Waits so many seconds before more of what the model writes is shown, or stored."""
    setups: OwnerLimiter = field(default_factory=lambda: OwnerLimiter(SETUPS_MAX), repr=False)
    """Deliveries of one owner that read their journal, or set their execution up."""
    halt_watch: HaltWatch = field(init=False, repr=False)
    """The kill switches, for all model calls of this process."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "halt_watch", HaltWatch(self.halts, self.tracer, every=self.poll_interval))

    def log(self, event: str, **fields: Any) -> None:
        """Log one line."""
        self.tracer.line(event, **fields)

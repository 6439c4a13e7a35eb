"""What the loop is given: the ports it speaks to, the tables it goes by and its clocks' lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, Protocol

from ferryman import ports
from ferryman.domain.integration import Integration
from ferryman.domain.plan import Plan
from ferryman.domain.usage import Usage
from ferryman.halting import LOOKS


class Price(Protocol):
    """What a model's tokens cost, in credits."""

    def row(self) -> Mapping[str, str]: ...
    def credits(self, usage: Usage) -> Decimal: ...
    def affordable(self, budget: Decimal, *, prompt_bytes: int) -> int: ...
    def worst(self, *, prompt_bytes: int, output_tokens: int) -> Decimal: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Everything around the loop. `seal` takes execution, seq and the arguments' JSON; `price` answers None for no price."""

    owners: ports.Owners
    tasks: ports.Tasks
    credentials: ports.Credentials
    clusters: ports.Clusters
    executions: ports.Executions
    halts: ports.Halts
    queue: ports.Queue
    model: ports.Model
    scanner: ports.Scanner
    registry: ports.Registry
    signing: ports.Signing
    clock: ports.Clock
    tracer: ports.Tracer
    seal: Callable[[str, int, bytes], bytes]
    price: Callable[[str], Price | None]
    plans: Mapping[str, Plan]
    integrations: Mapping[str, Integration]
    lease: timedelta
    slice: timedelta
    """How long one delivery goes on before it hands over to the next."""
    patience: timedelta
    """How long an execution may take in all; past it, it ends as timeout."""
    looks: timedelta = LOOKS

    def line(self, event: str, **fields: Any) -> None:
        self.tracer.line(event, **fields)

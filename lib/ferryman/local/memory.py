"""Memory: what the ports of one house remember together."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from ferryman.domain.call import Ticket
from ferryman.domain.connection import Connection
from ferryman.domain.credential import Sealed
from ferryman.domain.declared import Cluster, Declared
from ferryman.domain.execution import Execution, Opening, Step
from ferryman.domain.ledger import Entry
from ferryman.domain.owner import Owner
from ferryman.domain.purse import Purse
from ferryman.domain.receipt import Receipt
from ferryman.domain.task import Task
from ferryman.domain.token import Slot


@dataclass(frozen=True, slots=True)
class Memory:
    """The documents by name; `versions` stand beside the task and outlive a deleted credential."""

    owners: dict[str, Owner] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    versions: dict[str, dict[str, int]] = field(default_factory=dict)
    credentials: dict[str, dict[str, Sealed]] = field(default_factory=dict)
    connections: dict[str, dict[str, Connection]] = field(default_factory=dict)
    clusters: dict[str, dict[str, tuple[Cluster, tuple[Declared, ...]]]] = field(default_factory=dict)
    executions: dict[str, Execution] = field(default_factory=dict)
    openings: dict[str, Opening] = field(default_factory=dict)
    steps: dict[str, dict[int, Step]] = field(default_factory=dict)
    tickets: dict[str, dict[int, Ticket]] = field(default_factory=dict)
    receipts: dict[str, dict[int, tuple[Receipt, ...]]] = field(default_factory=dict)
    purses: dict[str, Purse] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    halts: set[str | None] = field(default_factory=set)
    released: dict[str | None, datetime] = field(default_factory=dict)
    tokens: dict[str, Slot] = field(default_factory=dict)

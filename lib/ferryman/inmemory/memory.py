"""Memory: what the ports of one deployment store together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import count
from typing import Any

from ferryman.domain.approvals.approval import Approval
from ferryman.domain.approvals.standing import StandingApproval
from ferryman.domain.calls.call import Ticket
from ferryman.domain.console_sessions.link import SignInLink
from ferryman.domain.console_sessions.session import ConsoleSession
from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.conversations.live import LiveTurn
from ferryman.domain.conversations.message import Message
from ferryman.domain.credentials.connection import Connection
from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.credentials.former import FormerValues
from ferryman.domain.credentials.token import TokenSlot
from ferryman.domain.credits.alert import Alert
from ferryman.domain.credits.balance import CreditBalance
from ferryman.domain.credits.conversation import ConversationBalance
from ferryman.domain.credits.ledger import LedgerEntry
from ferryman.domain.executions.execution import Execution, ExecutionSetup, Step
from ferryman.domain.executions.occupancy import Occupancy
from ferryman.domain.executions.retention import freeze_retention
from ferryman.domain.files.kept import Overflow
from ferryman.domain.files.quota import FileQuota
from ferryman.domain.jobs.job import Job
from ferryman.domain.metering.event import UsageEvent
from ferryman.domain.metering.week import UsageWeek
from ferryman.domain.owners.idempotency import KeyedRequest
from ferryman.domain.owners.owner import Owner
from ferryman.domain.owners.plan import PLANS, Plan
from ferryman.domain.owners.user_changes import Document
from ferryman.domain.receipts.receipt import Receipt
from ferryman.domain.remote_servers.server import RemoteServer
from ferryman.domain.tasks.task import Task
from ferryman.domain.tools.declared import Cluster, DeclaredTool
from ferryman.domain.workspaces.agent import Agent
from ferryman.domain.workspaces.api_key import ApiKey
from ferryman.domain.workspaces.audit import AuditEntry
from ferryman.domain.workspaces.member import Membership
from ferryman.domain.workspaces.person import Invitation, Person
from ferryman.domain.workspaces.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Memory:
    """The documents by name; `versions` and `generations` belong to the task, and outlive what they count."""

    owners: dict[str, Owner] = field(default_factory=dict)
    keys: dict[str, ApiKey] = field(default_factory=dict)
    people: dict[str, Person] = field(default_factory=dict)
    memberships: dict[tuple[str, str], Membership] = field(default_factory=dict)
    """By workspace and person."""
    invitations: dict[str, Invitation] = field(default_factory=dict)
    console_sessions: dict[str, ConsoleSession] = field(default_factory=dict)
    sign_in_links: dict[str, SignInLink] = field(default_factory=dict)
    audit: dict[str, AuditEntry] = field(default_factory=dict)
    workspaces: dict[str, Workspace] = field(default_factory=dict)
    agents: dict[str, Agent] = field(default_factory=dict)
    mcp_servers: dict[str, RemoteServer] = field(default_factory=dict)
    """Those of agents, whose credentials are by `mcp_servers/ID`."""
    mcp_descriptors: dict[str, dict[str, str]] = field(default_factory=dict)
    """The texts of descriptors of tools, by server and digest."""
    jobs: dict[str, Job] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    versions: dict[str, dict[str, int]] = field(default_factory=dict)
    credentials: dict[str, dict[str, SealedCredential]] = field(default_factory=dict)
    former: dict[str, dict[str, FormerValues]] = field(default_factory=dict)
    connections: dict[str, dict[str, Connection]] = field(default_factory=dict)
    clusters: dict[str, dict[str, tuple[Cluster, tuple[DeclaredTool, ...]]]] = field(default_factory=dict)
    generations: dict[str, int] = field(default_factory=dict)
    conversations: dict[str, Conversation] = field(default_factory=dict)
    messages: dict[str, dict[int, Message]] = field(default_factory=dict)
    """By conversation and number."""
    executions: dict[str, Execution] = field(default_factory=dict)
    requests: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """What applications wrote in the place of executions, and `refused` of it."""
    refused: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    openings: dict[str, ExecutionSetup] = field(default_factory=dict)
    steps: dict[str, dict[int, Step]] = field(default_factory=dict)
    tickets: dict[str, dict[int, Ticket]] = field(default_factory=dict)
    approvals: dict[str, Approval] = field(default_factory=dict)
    standing_approvals: dict[str, StandingApproval] = field(default_factory=dict)
    overflows: dict[str, dict[int, Overflow]] = field(default_factory=dict)
    """Of the tickets that have answered."""
    live: dict[str, LiveTurn] = field(default_factory=dict)
    """The turn under way, by execution."""
    receipts: dict[str, dict[int, tuple[Receipt, ...]]] = field(default_factory=dict)
    occupancy: dict[str, Occupancy] = field(default_factory=dict)
    streams: dict[str, Mapping[str, datetime]] = field(default_factory=dict)
    balances: dict[str, CreditBalance] = field(default_factory=dict)
    conversation_balances: dict[str, ConversationBalance] = field(default_factory=dict)
    entries: dict[str, LedgerEntry] = field(default_factory=dict)
    imported_entries: dict[str, tuple[LedgerEntry, ...]] = field(default_factory=dict)
    file_quotas: dict[str, FileQuota] = field(default_factory=dict)
    """By workspace."""
    usage_events: dict[str, UsageEvent] = field(default_factory=dict)
    usage: dict[str, UsageWeek] = field(default_factory=dict)
    alerts: dict[str, Alert] = field(default_factory=dict)
    halts: set[str | None] = field(default_factory=set)
    released: dict[str | None, datetime] = field(default_factory=dict)
    keyed: dict[str, KeyedRequest] = field(default_factory=dict)
    nonces: dict[str, datetime] = field(default_factory=dict)
    """Of signed requests, each with the moment until which it is remembered."""
    tokens: dict[str, TokenSlot] = field(default_factory=dict)
    user_documents: dict[tuple[str, str], tuple[Document | None, str]] = field(default_factory=dict)
    """By user and path, with its version, one of `user_versions`. One that was deleted is None, and has none."""
    user_workspaces: dict[str, str] = field(default_factory=dict)
    """Of each user with documents, the workspace that they are a user of."""
    user_versions: Iterator[int] = field(default_factory=partial(count, 1))


class MemoryStore:
    """A port over `Memory`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory


class PlannedStore(MemoryStore):
    """A port over `Memory` that starts executions, as many as the plan of their owner allows."""

    def __init__(self, memory: Memory, plans: Mapping[str, Plan] = PLANS) -> None:
        super().__init__(memory)
        self._plans = plans

    def _find_plan(self, name: str) -> Plan | None:
        owner = self._memory.owners.get(name)
        return self._plans.get(owner.plan) if owner else None

    def _keep(self, execution: Execution) -> Execution:
        """Return a new execution with the retention of its workspace."""
        workspace = self._memory.workspaces.get(execution.workspace)
        return execution if workspace is None else freeze_retention(execution, workspace.retention_days)

    def _occupied(self, owner: str) -> Occupancy:
        return self._memory.occupancy.get(owner, Occupancy())

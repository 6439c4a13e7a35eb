"""A key holder with the real gate and the real checks, on stores in memory; nothing is dialled, what would leave is counted."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from ferryman import catalog
from ferryman.declared import request as declared
from ferryman.domain.approvals.approval import Approval
from ferryman.domain.approvals.decision import Decision, DecisionVerdict, SignedDecision, encode_decision
from ferryman.domain.approvals.rules import ApprovalRule, ApprovalRules, ConfirmationMode
from ferryman.domain.calls.call import Ticket, TicketState
from ferryman.domain.calls.flow import CallFlow
from ferryman.domain.credentials.credential import Credential, Grant, Label, SealedCredential, Secret
from ferryman.domain.executions.execution import Status
from ferryman.domain.executions.policy import ExecutionPolicy, ServiceHeaders
from ferryman.domain.http.request import InboundResponse, Method
from ferryman.domain.labels.label import READ, FlowLabel
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.tools.settings import ToolSettings
from ferryman.egress.checking import redact, scan_output
from ferryman.egress.gate import EgressGate, ExchangeState
from ferryman.egress.send import Sending
from ferryman.egress.tls import create_context
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.inmemory.clock import START, ManualClock
from ferryman.inmemory.credentials import MemoryConnections, MemoryCredentials
from ferryman.inmemory.log import NoLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryHalts
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.inmemory.tokens import MemoryTokens
from ferryman.ports.approvals import Approvals
from ferryman.ports.tickets import CallRequest
from ferryman.tools.approving.confirming import ApprovingDependencies
from ferryman.tools.execute_call import ToolDependencies, execute_call
from ferryman.tools.prepared_call import (
    CallContext,
    PreparedCall,
    add_idempotency_key,
    make_builtin_preparer,
    prepare_request,
)
from ferryman.vault.decisions import PublishedKeys
from ferryman.vault.sign import SigningKey
from tests.builders import build_execution, build_label, build_lease, build_policy, build_task, build_ticket
from tests.campaigns.approvals.stored import STORED, StoredState

SECRET = "sk_live_Zq8LmT3xVr9KwB2nPd7Y"
RENEWED = "sk_live_Hd5JcQ1uXs6GvN4eWt0A"
KEY = SigningKey(1, b"k" * 32)
STRANGER = SigningKey(1, b"s" * 32)
ALWAYS = ApprovalRules(workspace=(ApprovalRule(mode=ConfirmationMode.ALWAYS),))
ARGUMENTS = {
    "method": "POST",
    "url": "https://api.stripe.com/v1/refunds?expand=charge",
    "credential": "STRIPE",
    "headers": {"X-Request-Note": "refund for order"},
    "body": {"charge": "ch_abcdefgh", "amount": 1250, "reason": "requested by customer"},
}
JUDGED = CallFlow(
    asks=True,
    reason="tainted",
    lines=("refund: waits for a person (tainted)", "└─ charge = ch_abcdefgh", "   └─ untrusted: in no trusted text"),
)
TOOL = DeclaredTool(
    name="refund",
    method=Method.POST,
    url="https://api.stripe.com/v1/refunds",
    headers={"Authorization": "Bearer {{secrets.STRIPE}}", "X-Kind": "refund"},
    query={"mode": "full"},
    body={"charge": "ch_fixed", "key": "{{secrets.STRIPE}}"},
)
GRANT = Grant(
    token_url="https://connect.stripe.com/oauth/token",
    client_id="client_abcdef",
    refresh_token=Secret("rt_Mn2BvC4xZl6KjH8gFd0S"),
    scopes=("read_write", "refunds"),
    expires_at=START + timedelta(days=90),
    consented=4,
)
LABEL = build_label(name="STRIPE", service="stripe", version=4, hosts=("api.stripe.com", "files.stripe.com"))
POLICY = build_policy(
    tools=("api_call", "http_get"),
    integrations=("stripe",),
    domains=("api.stripe.com", "files.stripe.com"),
    credentials=("STRIPE",),
    webhook_urls=("https://hooks.example.com/services/abcdef",),
    declared={"refund": TOOL.fingerprint, "other": "0123456789abcdef"},
    headers=(ServiceHeaders(domains=("api.stripe.com", "files.stripe.com"), names=("x-request-note",)),),
    settings={"other": ToolSettings(arguments={"account": "acct_main"})},
    approvals=ALWAYS,
)


class CountingGate(EgressGate):
    """A gate that notes what would leave, and answers it."""

    async def _send_reusing(self, exchange: ExchangeState, sending: Sending) -> None:
        return None

    async def _send_dialling(self, exchange: ExchangeState, sending: Sending) -> InboundResponse:
        exchange.dialer.dialled = sending.state.begun = True
        DEPARTURES.append(sending.prepared)
        return InboundResponse(status=200, headers=(), body=b"done", size_bytes=4)


DEPARTURES: list[Any] = []
"""What has left any gate."""

TLS = create_context()


@dataclass(frozen=True, kw_only=True)
class State:
    """All that a call is made of: each campaign changes one part of it after a person approved."""

    tool: str = "api_call"
    arguments: Mapping[str, Any] = field(default_factory=lambda: ARGUMENTS)
    declared: DeclaredTool = TOOL
    label: Label = LABEL
    grant: Grant | None = None
    secret: str = SECRET
    policy: ExecutionPolicy = POLICY
    flow: FlowLabel = READ
    origins: CallFlow | None = None
    workspace: str = "workspace_a"
    agent: str = "agent_a"
    owner: str = "owner_a"
    task: str = "task_a"
    execution: str = "exec_a"


@dataclass
class Rig:
    """One execution whose calls all have the same arguments."""

    state: State = field(default_factory=State)
    calls: int = 1
    memory: Memory = field(default_factory=Memory)
    clock: ManualClock = field(default_factory=ManualClock)
    stored: StoredState | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        rigs = STORED.get()
        self.stored = None if rigs is None else rigs.build()
        self.place(self.state)

    def place(self, state: State) -> None:
        """Store what `state` says, and keep the approvals as they are."""
        self.state = state
        policy = replace(state.policy, owner=state.owner, task=state.task)
        self.memory.executions[state.execution] = build_execution(
            id=state.execution,
            owner=state.owner,
            workspace=state.workspace,
            agent=state.agent,
            task=state.task,
            status=Status.RUNNING,
            lease=build_lease(expires_at=START + timedelta(days=400)),
            policy=policy,
        )
        self.memory.tasks[state.task] = build_task(id=state.task, owner=state.owner)
        label = replace(state.label, owner=state.owner, task=state.task)
        self.memory.versions[state.task] = {"STRIPE": label.version}
        sealed = SealedCredential(label=label, ciphertext=b"", key_version=1, created_at=START, updated_at=START)
        self.memory.credentials[state.task] = {"STRIPE": sealed}
        before = self.memory.tickets.get(state.execution, {})
        self.memory.tickets[state.execution] = {
            seq: replace(before[seq], label=state.flow, flow=state.origins) if seq in before else self._build_ticket(seq)
            for seq in range(self.calls)
        }

    def _build_ticket(self, seq: int) -> Ticket:
        return build_ticket(seq=seq, tool=self.state.tool, call=f"c{seq}", label=self.state.flow, flow=self.state.origins)

    async def send(self, seq: int = 0) -> int:
        """Have the key holder execute a call; return how many requests left."""
        before = len(DEPARTURES)
        state = self.state
        request = CallRequest(execution=state.execution, seq=seq, epoch=1, task=state.task, owner=state.owner)
        if self.stored is not None:
            await self.stored.write(self.memory)
        await execute_call(self.deps(), "http_tool" if state.tool == "refund" else "api_call", request)
        if self.stored is not None:
            await self.stored.read(self.memory)
        return len(DEPARTURES) - before

    def ticket(self, seq: int = 0) -> Ticket:
        return self.memory.tickets[self.state.execution][seq]

    def is_asked(self, seq: int = 0) -> bool:
        """Tell whether the call waits for a decision that nobody has made."""
        ticket = self.ticket(seq)
        approval = self.memory.approvals.get(ticket.approval)
        return ticket.state is TicketState.WAITING and approval is not None and approval.decided is None

    def approval(self, seq: int = 0) -> Approval:
        return self.memory.approvals[self.ticket(seq).approval]

    async def decide(self, seq: int = 0, *, key: SigningKey = KEY, **fields: Any) -> SignedDecision:
        """Decide about the call as the api does."""
        signed = sign(self.approval(seq), key=key, **fields)
        await MemoryApprovals(self.memory).decide(signed, now=self.clock.now())
        return signed

    def deps(self) -> ToolDependencies:
        gate = CountingGate(names=NoNames(), dial=NoNames(), tls=TLS, tracer=NoLog())  # type: ignore[arg-type]
        builtin = make_builtin_preparer(gate, INTEGRATIONS)

        async def prepare(context: CallContext) -> PreparedCall:
            if context.claimed_call.ticket.tool != "refund":
                return await builtin(context)
            tool = self.state.declared
            assert context.confirm is not None
            context.confirm.know_tool(tool.name, context.arguments, tool.fingerprint)
            outbound = declared.build_request(tool, context.arguments, state={})
            return prepare_request(gate, add_idempotency_key(outbound, context.claimed_call, INTEGRATIONS), context)

        approvals: Approvals = MemoryApprovals(self.memory) if self.stored is None else self.stored.approvals
        in_memory = {"tickets": MemoryTickets(self.memory), "credentials": MemoryCredentials(self.memory)}
        verifier = PublishedKeys({1: KEY.public})
        return ToolDependencies(
            **(in_memory if self.stored is None else self.stored.ports),  # type: ignore[arg-type]
            connections=MemoryConnections(self.memory),
            tokens=MemoryTokens(self.memory),
            vault=Opener(self.state),
            gate=gate,
            prepare=prepare,
            redact=redact,
            redact_blocks=scan_output,
            integrations=INTEGRATIONS,
            halts=MemoryHalts(self.memory),
            clock=self.clock,
            tracer=NoLog(),  # type: ignore[arg-type]
            approving=ApprovingDependencies(approvals=approvals, verifier=verifier, clock=self.clock),
        )


INTEGRATIONS = catalog.load()


class NoNames:
    """Resolves and dials nothing: nothing is to get that far."""


@dataclass(frozen=True)
class Opener:
    """A vault that opens what the state says."""

    state: State

    async def open_credential(self, sealed: SealedCredential) -> Credential:
        return Credential(label=sealed.label, secret=Secret(self.state.secret), grant=self.state.grant)

    async def open_arguments(self, ciphertext: bytes, *, execution: str, seq: int) -> dict[str, Any]:
        return dict(self.state.arguments)


def sign(approval: Approval, /, *, key: SigningKey = KEY, **fields: Any) -> SignedDecision:
    """Return a decision about `approval` with `fields`, signed."""
    values = {
        "approval": approval.id,
        "digest": approval.digest,
        "owner": approval.owner,
        "workspace": approval.workspace,
        "execution": approval.execution,
        "seq": approval.seq,
        "verdict": DecisionVerdict.APPROVE,
        "sends_max": 1,
        "by": "person_a",
        "at": START,
    }
    decision = Decision(**{**values, **fields})
    return SignedDecision(decision=decision, key=key.version, signature=key.sign(encode_decision(decision)).hex())


def flip(text: str, rng: random.Random, letters: Sequence[str] = "abcdefghijklmnopqrstuvwxyz") -> str:
    """Return `text` with one of its small letters another one."""
    places = [index for index, letter in enumerate(text) if letter in letters]
    index = rng.choice(places)
    other = rng.choice([letter for letter in letters if letter != text[index]])
    return text[:index] + other + text[index + 1 :]

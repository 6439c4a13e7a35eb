"""Alerts while processes die: an execution that takes its workspace's cap over thresholds, and the delivery of its alerts.

A process that dies stops at that line, by an exception that nothing catches; the store and the queue remember what they took.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal

from ferryman.alerts.dispatch import AlertDependencies, deliver
from ferryman.domain.credentials.credential import SealedCredential
from ferryman.domain.credits.alert import THRESHOLDS
from ferryman.domain.credits.alert_message import generate_secret, label_secret
from ferryman.domain.credits.balance import CreditBalance, CreditPart
from ferryman.domain.delivery import AlertState
from ferryman.domain.http.request import InboundResponse, OutboundRequest
from ferryman.domain.workspaces.workspace import Workspace, build_default_workspace
from ferryman.inmemory.alerts import MemoryAlerts, QueuedAlert
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.inmemory.credentials import MemoryCredentials
from ferryman.inmemory.key_store import MemoryKeyStore
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.workspaces import MemoryWorkspaces
from ferryman.ports.errors import UnavailableError
from ferryman.ports.gate import CallPolicy
from ferryman.tools.alerting.send import SendingDependencies, send_alert
from ferryman.vault.seal import PublicKey, build_credential_info, derive_public_key, generate_private_key
from ferryman.vault.vault import Vault
from tests.campaigns.crash.invariants import Record
from tests.campaigns.crash.points import ORCHESTRATOR, TOOL, Counting, instrument
from tests.campaigns.crash.scenarios import SCENARIOS, Scenario
from tests.campaigns.crash.simulated import Killed, SimulatedRun, memory_ports

DELIVERIES_MAX = 60
URL = "https://a.test/budget"
PRIVATE = generate_private_key()
GET = next(scenario for scenario in SCENARIOS if scenario.name == "get")
LIMIT, BEFORE = Decimal(41), Decimal(20)
"""The credits that the workspace may use in the month, and those that it has used before."""

REACHED = replace(GET, name="reached", max_credits=Decimal(21))
REFUSED = replace(GET, name="refused", max_credits=Decimal(22))
"""It reserves one credit more than the cap leaves."""


@dataclass(kw_only=True)
class AlertRun(SimulatedRun):
    """One run of an execution, and then of the deliveries of its alerts. The receiver does not take the first message."""

    memory: Memory
    received: list[str] = field(default_factory=list)
    unanswered: int = 1

    async def perform(self, *, together: int = 1, impatient: bool = False) -> Record:
        place = replace(build_default_workspace("o"), alert_url=URL, max_credits_month=LIMIT)
        self.memory.workspaces[place.id] = place
        part = CreditPart(credits_used=BEFORE)
        self.memory.balances["owner:o"] = CreditBalance(
            id="owner:o", month="2026-11", credits_used=BEFORE, parts={f"workspace:{place.id}": part}
        )
        self.memory.credentials[place.id] = {"ALERT_SECRET": _seal(place)}
        recorded = await super().perform(together=together, impatient=impatient)
        acknowledged = set[QueuedAlert]()
        meet = {role: Counting(f"alert {role}", self._meet) for role in (ORCHESTRATOR, TOOL)}
        for _ in range(DELIVERIES_MAX):
            waiting = [item for item in self.alerts.waiting if item not in acknowledged]
            if not waiting:
                break
            self.clock.turn(waiting[0].after)
            outcomes = await asyncio.gather(*(self._deliver(waiting[0].alert, meet) for _ in range(together)))
            if all(outcomes):
                acknowledged.add(waiting[0])
            self.clock.turn(timedelta(seconds=10))
        return recorded

    async def _deliver(self, alert: str, meet: dict[str, Counting]) -> bool:
        memory, clock = self.memory, self.clock
        sending = SendingDependencies(
            alerts=MemoryAlerts(memory),
            approvals=MemoryApprovals(memory),
            workspaces=MemoryWorkspaces(memory),
            credentials=MemoryCredentials(memory),
            vault=Vault(MemoryKeyStore({1: PRIVATE})),
            gate=_Receiver(self),
            clock=clock,
            tracer=RecordingLog(),
        )
        sender = _KeyHolder(instrument(sending, meet[TOOL]))
        deps = AlertDependencies(
            alerts=MemoryAlerts(memory), queue=self.alerts, sender=sender, clock=clock, tracer=RecordingLog()
        )
        try:
            return await deliver(instrument(deps, meet[ORCHESTRATOR]), alert)
        except Killed:
            return False


class _KeyHolder:
    """The key holder's function: where it dies, it does not answer."""

    def __init__(self, deps: SendingDependencies) -> None:
        self._deps = deps

    async def send(self, alert: str) -> int | None:
        try:
            after = await send_alert(self._deps, alert)
        except Killed:
            raise UnavailableError("the key holder died") from None
        return after.attempts if after is not None and after.state is AlertState.PENDING else None


class _Receiver:
    """The gate, and the receiver behind it, who answers the first `unanswered` messages with an error."""

    def __init__(self, run: AlertRun) -> None:
        self._run = run

    async def send(self, outbound: OutboundRequest, call: CallPolicy) -> None:
        raise AssertionError("an alert is fetched, and sent in no other way")

    async def fetch(self, outbound: OutboundRequest, call: CallPolicy) -> InboundResponse:
        self._run.received.append(str(outbound.fixed_headers["webhook-id"]))
        is_taken = len(self._run.received) > self._run.unanswered
        return InboundResponse(status=204 if is_taken else 500, headers=(), body=b"", size_bytes=0)


def _seal(workspace: Workspace) -> SealedCredential:
    label = label_secret(workspace)
    secret, at = generate_secret().reveal().encode(), workspace.created_at
    ciphertext = PublicKey(1, derive_public_key(PRIVATE)).seal(secret, build_credential_info(label))
    return SealedCredential(label=label, ciphertext=ciphertext, key_version=1, created_at=at, updated_at=at)


def find_broken(run: AlertRun, record: Record) -> list[str]:
    """Return what is wrong: an alert for each threshold that is reached, each once, and each received and settled."""
    alerts, used = run.memory.alerts, BEFORE + record.execution.credits_used
    reached = [percent for percent in THRESHOLDS if percent * LIMIT <= used * 100]
    expected = [100] if run.scenario.name == "refused" else reached
    findings = []
    if sorted(alert.percent for alert in alerts.values()) != expected:
        findings.append(f"alerts of {[alert.percent for alert in alerts.values()]} where {used} of {LIMIT} are used")
    findings += [f"{alert.id} is {alert.state}" for alert in alerts.values() if alert.state is not AlertState.DELIVERED]
    if {*run.received} != {*alerts}:
        findings.append(f"{run.received} were received of {[*alerts]}")
    return findings


def build_run(scenario: Scenario, **fields: object) -> AlertRun:
    """Return a run with a memory of its own."""
    memory = Memory()
    return AlertRun(scenario=scenario, ports=memory_ports(memory), memory=memory, **fields)  # type: ignore[arg-type]

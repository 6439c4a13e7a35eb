"""Calls of functions without keys that wait for a person: what they would do, and with what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from ferryman.domain.approvals.approval import Approval
from ferryman.domain.approvals.decision import DecisionVerdict
from ferryman.domain.calls.call import Ticket, TicketState
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.executions.execution import Execution, Status
from ferryman.inmemory.approvals import MemoryApprovals
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.ports.tickets import ClaimedCall
from ferryman.tools.approving.confirming import ApprovingDependencies
from ferryman.tools.keyless.calling import KeylessCalls
from ferryman.tools.keyless.hook import CallTarget
from ferryman.vault.decisions import PublishedKeys
from tests.builders import build_execution, build_lease, build_policy, build_task, build_ticket
from tests.campaigns.approvals.rig import ALWAYS, KEY, sign

POLICY = build_policy(tools=("file_write",), credentials=("KEY",), approvals=ALWAYS)
ARGUMENTS = {"key": "a.txt", "content": "new"}


@dataclass
class Files:
    """A function of files and its hook: one file, whose version a test says."""

    memory: Memory = field(default_factory=Memory)
    clock: ManualClock = field(default_factory=ManualClock)
    target: CallTarget = field(default_factory=lambda: CallTarget(name="a.txt", version="7"))
    prepared: int = 0
    count: int = 0

    def __post_init__(self) -> None:
        self.memory.executions["e"] = build_execution(
            status=Status.RUNNING, lease=build_lease(), policy=POLICY, workspace="w", agent="g"
        )
        self.memory.tasks["t"] = build_task()
        self.memory.tickets["e"] = {0: build_ticket(tool="file_write", display_arguments=ARGUMENTS)}
        approvals = MemoryApprovals(self.memory)
        approving = ApprovingDependencies(approvals=approvals, verifier=PublishedKeys({1: KEY.public}), clock=self.clock)
        self.calls = KeylessCalls(
            tickets=MemoryTickets(self.memory),
            scanner=self,
            clock=self.clock,
            ask=self.ask,
            hooks={"files": self},
            approving=approving,
        )

    @property
    def ticket(self) -> Ticket:
        return self.memory.tickets["e"][0]

    @property
    def approval(self) -> Approval:
        return self.memory.approvals[self.ticket.approval]

    async def execute(self) -> Ticket:
        return await self.calls.execute(self.ticket, execution=self.memory.executions["e"])

    async def decide(self, **fields: Any) -> None:
        await MemoryApprovals(self.memory).decide(sign(self.approval, **fields), now=self.clock.now())

    async def find_target(self, claimed: ClaimedCall, execution: Execution) -> CallTarget:
        return self.target

    async def prepare(self, claimed: ClaimedCall, execution: Execution) -> Mapping[str, Any]:
        self.prepared += 1
        return {}

    def label_answer(self, answer: KeylessAnswer) -> None:
        """Return None: the label is that of the tool's entry."""

    async def conclude(self, claimed: ClaimedCall, execution: Execution, answer: KeylessAnswer | None) -> None:
        return None

    async def ask(self, function: str, body: Mapping[str, Any]) -> KeylessAnswer:
        self.count += 1
        return KeylessAnswer("{}")

    async def scan(self, execution: Execution, content: Sequence[Any]) -> Sequence[Any]:
        return [{**block, "text": block["text"].replace("KEYKEYKEY", "[redacted:KEY]")} for block in content]


@pytest.fixture
def files() -> Files:
    return Files()


async def test_a_call_waits_before_anything_is_set_aside_for_it(files: Files) -> None:
    ticket = await files.execute()
    assert (ticket.state, ticket, files.prepared, files.count) == (TicketState.WAITING, files.ticket, 0, 0)


async def test_a_person_reads_the_arguments_the_file_and_its_version(files: Files) -> None:
    await files.execute()
    form = '"what":{"arguments":{"content":"new","key":"a.txt"},"kind":"effect","target":"a.txt","version":"7"}'
    assert form in files.approval.form


async def test_an_approved_call_is_made_and_says_who_approved_it(files: Files) -> None:
    await files.execute()
    await files.decide()
    ticket = await files.execute()
    assert (ticket.state, files.count, ticket) == (TicketState.SETTLED, 1, files.ticket)
    assert ticket.approved is not None
    assert ticket.approved.approval == files.approval.id


async def test_a_file_that_changed_since_is_asked_about_again(files: Files) -> None:
    await files.execute()
    await files.decide()
    files.target = replace(files.target, version="8")
    assert ((await files.execute()).state, files.count, files.approval.decided) == (TicketState.WAITING, 0, None)


async def test_what_an_earlier_attempt_has_done_is_asked_about_by_nobody(files: Files) -> None:
    files.target = CallTarget(name="a.txt", is_done=True)
    assert ((await files.execute()).state, files.count) == (TicketState.SETTLED, 1)


async def test_the_reason_of_a_denial_is_scanned(files: Files) -> None:
    await files.execute()
    await files.decide(verdict=DecisionVerdict.DENY, sends_max=0, reason="it is KEYKEYKEY")
    result = (await files.execute()).result
    assert result is not None
    assert (result.code, files.count) == ("denied", 0)
    assert "it is [redacted:KEY]" in result.content


async def test_without_who_reads_decisions_a_call_is_refused(files: Files) -> None:
    files.calls = replace(files.calls, approving=None)
    result = (await files.execute()).result
    assert result is not None
    assert (result.code, files.count) == ("not_approvable", 0)


async def test_a_call_of_no_rule_is_made(files: Files) -> None:
    files.memory.executions["e"] = replace(files.memory.executions["e"], policy=build_policy(tools=("file_write",)))
    assert ((await files.execute()).state, files.count) == (TicketState.SETTLED, 1)

"""A call of a function without keys: the scanned arguments go there, and what comes back is scanned before it rests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from ferryman.catalog.tools import TOOLS
from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import CALL_ATTEMPTS_MAX, TRUNCATED, Ticket, TicketState
from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.calls.suggestion import SUGGESTIONS
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.labels.label import OWNED, READ, Source
from ferryman.domain.owners.user_changes import DOCUMENT_BYTES_MAX, UserChanges
from ferryman.domain.stale import StaleError
from ferryman.domain.tools.settings import ToolSettings
from ferryman.halting import HaltWatch
from ferryman.inmemory.clock import ManualClock
from ferryman.inmemory.log import RecordingLog
from ferryman.inmemory.memory import Memory
from ferryman.inmemory.owners import MemoryHalts
from ferryman.inmemory.tickets import MemoryTickets
from ferryman.ports.errors import RejectedError, UnavailableError
from ferryman.ports.local_functions import build_user_id
from ferryman.tools.keyless.calling import CONFLICTS_MAX, KeylessCalls
from tests.builders import build_execution, build_lease, build_policy, build_task, build_ticket

PATH = "user_memory/taste"
USER = build_user_id(build_execution().context)
POLICY = build_policy(tools=("calculator",), credentials=("KEY",))
ARGUMENTS = {"expression": "[redacted:KEY] + 1"}


@dataclass
class Caller:
    """The calls of one execution, a function that says what a test says, and a scanner that knows the key KEYKEYKEY."""

    memory: Memory = field(default_factory=Memory)
    clock: ManualClock = field(default_factory=ManualClock)
    says: str | Exception = "43"
    code: str | None = None
    reported: Mapping[str, Any] = field(default_factory=dict)
    changes: UserChanges = field(default_factory=UserChanges)
    requests: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    scanned: int = 0
    on_scan: Exception | None = None
    on_ask: Callable[[], Awaitable[None]] | None = None

    def __post_init__(self) -> None:
        self.memory.executions["e"] = build_execution(status=Status.RUNNING, lease=build_lease(), policy=POLICY)
        self.memory.tasks["t"] = build_task()
        self.memory.tickets["e"] = {0: build_ticket(tool="calculator", display_arguments=ARGUMENTS, arguments=b"sealed")}
        self.calls = KeylessCalls(tickets=MemoryTickets(self.memory), scanner=self, clock=self.clock, ask=self.ask)

    @property
    def ticket(self) -> Ticket:
        return self.memory.tickets["e"][0]

    async def execute(self) -> Ticket:
        return await self.calls.execute(self.ticket, execution=self.memory.executions["e"])

    async def ask(self, function: str, body: Mapping[str, Any]) -> KeylessAnswer:
        self.requests.append((function, body))
        self.clock.turn(2)
        if self.on_ask is not None:
            await self.on_ask()
        if isinstance(self.says, Exception):
            raise self.says
        return KeylessAnswer(self.says, self.code, self.changes, **self.reported)

    async def scan(self, execution: Execution, content: Sequence[Any]) -> Sequence[Any]:
        assert execution.id == "e"
        self.scanned += 1
        if self.on_scan is not None:
            raise self.on_scan
        blocks: list[Any] = json.loads(json.dumps(content).replace("KEYKEYKEY", "[redacted:KEY]"))
        return blocks


@pytest.fixture
def caller() -> Caller:
    return Caller()


async def test_the_function_is_given_the_scanned_arguments_and_no_task(caller: Caller) -> None:
    await caller.execute()
    ((function, body),) = caller.requests
    assert function == "local_tools"
    assert body == {"call": "c", "tool": "calculator", "arguments": ARGUMENTS, "user": body["user"], "within_s": 5.0}


async def test_the_user_is_the_same_uuid_for_one_owner_and_tells_no_name(caller: Caller) -> None:
    await caller.execute()
    again = Caller()
    await again.execute()
    users = {body["user"] for _, body in (*caller.requests, *again.requests)}
    assert [str(UUID(user)) for user in users] == list(users)


async def test_the_settled_ticket_is_the_stored_one(caller: Caller) -> None:
    settled = await caller.execute()
    assert settled == caller.ticket
    assert settled.state is TicketState.SETTLED
    assert settled.result is not None
    assert (settled.result.content, settled.result.latency_ms, settled.result.response_size_bytes) == ("43", 2_000, 2)


async def test_a_result_is_scanned_before_it_rests(caller: Caller) -> None:
    caller.says = "it is KEYKEYKEY"
    await caller.execute()
    assert caller.ticket.result is not None
    assert caller.ticket.result.content == "it is [redacted:KEY]"


async def test_a_result_is_cut_after_it_was_scanned(caller: Caller) -> None:
    caller.says = "x" * 49_995 + "KEYKEYKEY"
    settled = await caller.execute()
    assert settled.result is not None
    assert settled.result.content == "x" * 49_995 + "[reda" + TRUNCATED


async def test_a_result_is_cut_as_its_tool_says(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = TOOLS["calculator"]
    monkeypatch.setitem(TOOLS, "calculator", replace(tool, policy=replace(tool.policy, result_characters_max=3)))
    caller.says = "12345"
    settled = await caller.execute()
    assert settled.result is not None
    assert settled.result.content == "123" + TRUNCATED


async def test_a_tool_says_itself_whether_it_failed_and_its_text_does_not(caller: Caller) -> None:
    caller.says = "Error: this is what was asked for"
    settled = await caller.execute()
    assert settled.result is not None
    assert (settled.result.ok, settled.result.code, settled.result.suggestion) == (True, None, None)


@pytest.mark.parametrize(("code", "stored"), [("invalid_arguments", "invalid_arguments"), ("KEYKEYKEY", "function_failed")])
async def test_the_code_of_a_failure_is_one_that_is_known(caller: Caller, code: str, stored: str) -> None:
    caller.code = code
    settled = await caller.execute()
    assert settled.result is not None
    assert (settled.result.ok, settled.result.code, settled.result.suggestion) == (False, stored, SUGGESTIONS[stored])


async def test_the_result_is_one_text(caller: Caller) -> None:
    settled = await caller.execute()
    assert settled.result is not None
    label = replace(OWNED, sources=(Source(tool="calculator", call=0),))
    assert settled.result.parts == (Part(kind=PartKind.TEXT, start=0, end=2, label=label),)


async def test_the_result_is_as_untrusted_as_what_the_call_was_asked_with(caller: Caller) -> None:
    caller.memory.tickets["e"][0] = replace(caller.ticket, label=READ)
    settled = await caller.execute()
    assert settled.result is not None
    assert settled.result.parts[0].label.integrity is READ.integrity


def keep(caller: Caller, changes: UserChanges) -> None:
    """Have the call be one of `save_preference`, whose function answers with these changes."""
    caller.memory.tickets["e"] = {0: build_ticket(tool="save_preference", display_arguments={})}
    caller.changes = changes


async def test_changes_of_the_user_s_documents_are_stored_with_the_result(caller: Caller) -> None:
    keep(caller, UserChanges({PATH: ""}, {PATH: {"preferences": ["tea"]}}))
    await caller.execute()
    assert caller.requests[0][0] == "concierge"
    assert caller.ticket.state is TicketState.SETTLED
    assert caller.memory.user_documents == {(USER, PATH): ({"preferences": ["tea"]}, "1")}


async def test_a_call_that_failed_changes_nothing_whatever_its_function_says(caller: Caller) -> None:
    keep(caller, UserChanges({}, {PATH: {"preferences": ["tea"]}}))
    caller.code = "function_failed"
    await caller.execute()
    assert (caller.ticket.state, caller.memory.user_documents) == (TicketState.SETTLED, {})


async def test_what_is_written_is_scanned_before_it_rests(caller: Caller) -> None:
    keep(caller, UserChanges({}, {PATH: {"preferences": ["KEYKEYKEY"], "deep": [{"KEYKEYKEY": 1}]}, "user_memory/b": None}))
    await caller.execute()
    document, _ = caller.memory.user_documents[USER, PATH]
    assert document == {"preferences": ["[redacted:KEY]"], "deep": [{"[redacted:KEY]": 1}]}


async def test_a_document_that_is_too_long_without_its_credentials_is_not_written(caller: Caller) -> None:
    keep(caller, UserChanges({}, {PATH: {"a": "KEYKEYKEY" * (DOCUMENT_BYTES_MAX // 10)}}))
    settled = await caller.execute()
    assert settled.result is not None
    assert (settled.result.block_reason, caller.memory.user_documents) == ("internal_fault", {})


async def test_a_path_that_holds_a_credential_is_not_written(caller: Caller) -> None:
    keep(caller, UserChanges({}, {"user_memory/KEYKEYKEY": {}}))
    settled = await caller.execute()
    assert settled.result is not None
    assert (settled.result.block_reason, caller.memory.user_documents) == ("internal_fault", {})


@pytest.mark.parametrize("changes", [UserChanges({}, {"bookings/a": {}}), UserChanges({"bookings/a": ""}, {})])
async def test_a_tool_leaves_the_collections_of_its_policy_alone(caller: Caller, changes: UserChanges) -> None:
    keep(caller, changes)
    settled = await caller.execute()
    assert settled.result is not None
    assert (settled.result.block_reason, caller.memory.user_documents) == ("internal_fault", {})


async def test_a_function_that_may_change_nothing_writes_nothing(caller: Caller) -> None:
    caller.changes = UserChanges({}, {PATH: {}})
    settled = await caller.execute()  # of the calculator
    assert settled.result is not None
    assert (settled.result.block_reason, caller.memory.user_documents) == ("internal_fault", {})


async def test_an_answer_that_is_none_is_a_fault_of_our_own(caller: Caller) -> None:
    caller.says = RejectedError("the answer of concierge is none")
    settled = await caller.execute()
    assert settled.result is not None
    assert settled.result.block_reason == "internal_fault"


async def test_a_tool_runs_again_where_what_it_has_read_was_changed_meanwhile(caller: Caller) -> None:
    keep(caller, UserChanges({PATH: ""}, {PATH: {"n": 1}}))
    caller.memory.user_documents[USER, PATH] = ({"n": 0}, "7")
    known = iter(["", "7"])

    async def ask(function: str, body: Mapping[str, Any]) -> KeylessAnswer:
        return KeylessAnswer("done", changes=UserChanges({PATH: next(known)}, {PATH: {"n": 1}}))

    settled = await replace(caller.calls, ask=ask).execute(caller.ticket, execution=caller.memory.executions["e"])
    assert settled == caller.ticket
    assert caller.memory.user_documents[USER, PATH] == ({"n": 1}, "1")


async def test_a_call_whose_documents_change_all_the_time_is_given_back_and_has_changed_nothing(caller: Caller) -> None:
    keep(caller, UserChanges({PATH: "1"}, {PATH: {}}))
    with pytest.raises(UnavailableError, match="being changed by others"):
        await caller.execute()
    assert (caller.ticket.state, caller.memory.user_documents) == (TicketState.INTENDED, {})
    assert len(caller.requests) == CONFLICTS_MAX


async def test_what_only_read_is_stored_whatever_was_changed(caller: Caller) -> None:
    keep(caller, UserChanges({PATH: "9"}, {}))
    assert (await caller.execute()).result is not None
    assert len(caller.requests) == 1


async def test_a_call_that_another_delivery_has_settled_changes_nothing_more(caller: Caller) -> None:
    keep(caller, UserChanges({}, {PATH: {"n": 1}}))
    await caller.execute()
    caller.memory.user_documents.clear()
    assert (await caller.execute()).state is TicketState.SETTLED
    assert (caller.memory.user_documents, len(caller.requests)) == ({}, 1)


async def test_where_the_task_has_no_secret_nothing_is_scanned(caller: Caller) -> None:
    execution = caller.memory.executions["e"]
    caller.memory.executions["e"] = replace(execution, policy=replace(POLICY, credentials=()))
    await caller.execute()
    assert caller.scanned == 0


async def test_a_result_that_cannot_be_scanned_is_not_told(caller: Caller) -> None:
    caller.on_scan = RejectedError("a credential does not open")
    settled = await caller.execute()
    assert settled.result is not None
    assert settled.result.content == "Error: request failed: an internal fault"


@pytest.mark.parametrize("where", ["says", "on_scan"])
async def test_a_call_whose_answer_is_lost_is_given_back(caller: Caller, where: str) -> None:
    setattr(caller, where, UnavailableError("no answer"))
    with pytest.raises(UnavailableError):
        await caller.execute()
    assert caller.ticket.state is TicketState.INTENDED


async def test_a_call_that_is_settled_is_not_made_again(caller: Caller) -> None:
    first = await caller.execute()
    assert (await caller.execute(), len(caller.requests)) == (first, 1)


async def test_a_call_under_way_is_not_made_twice(caller: Caller) -> None:
    now = caller.clock.now()
    caller.memory.tickets["e"][0] = replace(
        caller.ticket, state=TicketState.SENT, attempt=1, sent_at=now, deadline=now + timedelta(seconds=35)
    )
    with pytest.raises(StaleError):
        await caller.execute()
    assert caller.requests == []


async def test_a_call_that_an_earlier_attempt_may_have_made_is_not_released(caller: Caller) -> None:
    now = caller.clock.now()
    sent = {
        "state": TicketState.SENT,
        "attempt": 1,
        "sent_at": now - timedelta(minutes=2),
        "deadline": now - timedelta(minutes=1),
    }
    caller.memory.tickets["e"][0] = replace(caller.ticket, **sent)
    caller.says = UnavailableError("it does not answer")
    with pytest.raises(UnavailableError):
        await caller.execute()
    assert caller.ticket.state is TicketState.SENT


@pytest.mark.parametrize(("attempts", "count"), [(CALL_ATTEMPTS_MAX - 1, 1), (CALL_ATTEMPTS_MAX, 0)])
async def test_a_call_whose_answer_was_lost_too_often_is_not_made_again(caller: Caller, attempts: int, count: int) -> None:
    caller.memory.tickets["e"][0] = replace(caller.ticket, attempt=attempts)
    settled = await caller.execute()
    assert (len(caller.requests), settled.state) == (count, TicketState.SETTLED)


async def test_the_agents_settings_of_the_tool_lower_the_time_of_a_call() -> None:
    caller = Caller()
    policy = replace(POLICY, settings={"calculator": ToolSettings(timeout_s=1.5)})
    caller.memory.executions["e"] = replace(caller.memory.executions["e"], policy=policy)
    await caller.execute()
    assert caller.requests[0][1]["within_s"] == 1.5


@pytest.mark.parametrize("stopped_by", ["a cancel", "a kill switch"])
async def test_a_call_that_only_reads_is_broken_off_where_its_execution_is_stopped(caller: Caller, stopped_by: str) -> None:
    async def hang() -> None:
        if stopped_by == "a cancel":
            caller.memory.executions["e"] = replace(caller.memory.executions["e"], cancel_requested=True)
        else:
            caller.memory.halts.add(caller.memory.executions["e"].owner)
        await asyncio.Event().wait()

    caller.on_ask = hang
    watch = HaltWatch(MemoryHalts(caller.memory), RecordingLog(), every=timedelta(milliseconds=1))
    caller.calls = replace(caller.calls, halt_watch=watch)
    settled = await caller.execute()
    assert settled.result is not None
    assert (settled.state, settled.result.content) == (TicketState.SETTLED, refusal.HALTED.message)

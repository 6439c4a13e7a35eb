"""Retention: an execution goes with all that is below it, some days after its end and never before; money and keys stay."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from ferryman.domain.approvals.approval import LIFETIME
from ferryman.domain.conversations.asking import Question
from ferryman.domain.conversations.conversation import Conversation
from ferryman.domain.credits import ledger
from ferryman.domain.executions.execution import Execution, Status
from ferryman.domain.files.kept import Overflow
from ferryman.domain.owners.idempotency import Completion, KeyedRequest
from ferryman.domain.receipts.receipt import Head, ReceiptKind
from ferryman.domain.workspaces.workspace import build_default_workspace
from ferryman.gcp import documents
from ferryman.gcp.clients import GoogleClients
from ferryman.gcp.conversations import FirestoreConversations
from ferryman.gcp.credentials import FirestoreCredentials
from ferryman.gcp.executions import FirestoreExecutions
from ferryman.gcp.keyed import FirestoreKeyedRequests
from ferryman.gcp.owners import FirestoreOwners
from ferryman.gcp.places import Places
from ferryman.gcp.retention import EXPIRE_AT, Retention
from ferryman.gcp.tasks import FirestoreTasks
from ferryman.gcp.tickets import FirestoreTickets
from ferryman.gcp.usage import FirestoreUsage
from ferryman.gcp.workspaces import FirestoreWorkspaces
from ferryman.ports.executions import ExecutionEnding
from ferryman.settings import Settings, read
from ferryman.stack.inventory import list_documents
from tests.contracts.values import (
    ENTRY,
    EXECUTION,
    LEASE,
    NOW,
    OPENING,
    OWNER,
    POLICY,
    RESULT,
    TASK,
    build_sealed,
    call_request,
    receipts,
    turn,
)
from tests.emulator.firestore.conftest import Clock, Served, serving
from tests.metering.events import MONDAY, build_event

INDEXES = Path(__file__).parents[2] / "infra/firestore.indexes.json"
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
RETENTION = Retention(period=30 * DAY, execution_timeout=6 * HOUR)
DONE = ExecutionEnding(status=Status.COMPLETED, output="done")
STAYS = {"owners", "tasks", "credentials", "purses", "ledger", "occupancy"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSetup:
    served: Served
    clients: GoogleClients
    clock: Clock

    def executions(self, retention: Retention = RETENTION) -> FirestoreExecutions:
        return FirestoreExecutions(self.clients, retention)

    async def times(self) -> dict[str, datetime | None]:
        """Return when each document expires."""
        return {path: fields.get(EXPIRE_AT) for path, fields in await list_documents(self.clients)}

    async def at(self, moment: datetime) -> set[str]:
        """Return the collections that still hold something once the database has deleted what was due by `moment`."""
        self.clock.now = moment
        await self.served.firestore.expire()
        return {path.split("/")[-2] for path, fields in await list_documents(self.clients) if fields}


@pytest.fixture
async def deps() -> AsyncIterator[RetentionSetup]:
    clock = Clock()
    clock.now = NOW
    async with serving(clock=clock, indexes=INDEXES) as served:
        clients = GoogleClients(Settings(project="p", firestore_host=served.address))
        yield RetentionSetup(served=served, clients=clients, clock=clock)
        await clients.close()


async def under_way(deps: RetentionSetup, executions: FirestoreExecutions) -> Execution:
    """Return an execution in the middle of a turn: one call is settled, and of one the overflow is yet to be kept."""
    await FirestoreOwners(deps.clients).put(OWNER)
    await FirestoreTasks(deps.clients).create(TASK)
    await FirestoreCredentials(deps.clients).put(build_sealed())
    await executions.start(EXECUTION, most=1)
    execution, _ = await executions.claim("exec_1", slice=0, holder="h", now=NOW, lease=LEASE)
    opened, head = receipts(Head(), ReceiptKind.OPENED)
    execution = replace(execution, policy=POLICY, events=1, receipts=head)
    await executions.open(execution, OPENING, entry=ENTRY, receipts=opened, now=NOW)
    planned, head = receipts(head, ReceiptKind.PLANNED, ReceiptKind.PLANNED)
    current = replace(execution, receipts=head, credits_reserved=Decimal(100))
    current = await executions.commit(current, replace(turn(), receipts=planned), now=NOW, lease=LEASE)
    tickets = FirestoreTickets(deps.clients)
    for seq in (0, 1):
        claimed_call = await tickets.claim(call_request(seq), tool="api_call", now=NOW)
        if not seq:
            await tickets.settle(claimed_call, RESULT, now=NOW)
        else:
            await tickets.answer(claimed_call, RESULT, Overflow(content=b"x", offset=1, is_all=True))
    return current


async def end_execution(deps: RetentionSetup, executions: FirestoreExecutions, at: datetime) -> None:
    execution = await under_way(deps, executions)
    closed, head = receipts(execution.receipts, ReceiptKind.CLOSED)
    execution = replace(await executions.renew(execution, now=NOW, lease=at + HOUR - NOW), receipts=head)
    entry = ledger.record_release(execution, tokens=Decimal(1), rest=Decimal(99), at=at)
    await executions.finish(execution, replace(DONE, entry=entry, receipts=closed), now=at)


async def test_an_ended_execution_goes_with_all_that_is_below_it_and_nothing_else_does(deps: RetentionSetup) -> None:
    await end_execution(deps, deps.executions(), NOW + HOUR)
    everything = STAYS | {"executions", "steps", "calls"}
    assert await deps.at(NOW + 30 * DAY) == everything
    assert await deps.at(NOW + HOUR + 30 * DAY) == everything - {"executions"}
    assert await deps.at(NOW + 6 * HOUR + 30 * DAY) == STAYS


async def test_every_document_of_an_execution_is_told_its_time_and_has_a_policy(deps: RetentionSetup) -> None:
    await end_execution(deps, deps.executions(), NOW + HOUR)
    expiring = {path.split("/")[-2] for path, at in (await deps.times()).items() if at is not None}
    below = {path.split("/")[-2] for path in await deps.times() if path.startswith("executions/")}
    policies = [policy for policy in json.loads(INDEXES.read_text())["fieldOverrides"] if policy.get("ttl")]
    by_themselves = {"tokens", "connections", "credentials", "keyed_requests", "invitations", "alerts", "conversation_balances"}
    by_themselves |= {"usage", "conversations", "messages", "approvals", "standing_approvals", "nonces"}
    by_themselves |= {"console_sessions", "sign_in_links"}
    assert expiring == below == {policy["collectionGroup"] for policy in policies} - by_themselves
    assert {policy["fieldPath"] for policy in policies} == {EXPIRE_AT}
    assert [path for path, at in (await deps.times()).items() if path.startswith("executions/") and at is None] == []


async def test_a_week_of_usage_goes_400_days_after_it_began(deps: RetentionSetup) -> None:
    event = build_event()
    await deps.clients.firestore().document("usage_events", event.id).create(documents.write(event))
    await FirestoreUsage(deps.clients).roll_up(event.workspace, most=1, now=NOW)
    assert set((await deps.times()).values()) == {MONDAY + 400 * DAY}


async def test_former_values_of_a_credential_expire_when_nobody_scans_for_them_and_the_credential_stays(
    deps: RetentionSetup,
) -> None:
    credentials = FirestoreCredentials(deps.clients)
    await FirestoreTasks(deps.clients).create(TASK)
    for version in (1, 2):
        await credentials.put(build_sealed(version))
    await credentials.put(replace(build_sealed(1, "B")))
    await credentials.delete("task_1", "B", now=NOW + HOUR)
    await deps.at(NOW + DAY)
    assert [former_values.name for former_values in (await credentials.read_all("task_1"))[1]] == ["B"]
    await deps.at(NOW + DAY + HOUR)
    assert await credentials.read_all("task_1") == ([build_sealed(2)], [])


async def test_nothing_goes_while_an_execution_may_still_take_a_turn(deps: RetentionSetup) -> None:
    short = Retention(period=timedelta(seconds=1), execution_timeout=6 * HOUR)
    await under_way(deps, deps.executions(short))
    before = await deps.times()
    await deps.at(NOW + 6 * HOUR)
    assert await deps.times() == before


async def test_an_execution_that_never_ended_is_kept(deps: RetentionSetup) -> None:
    await under_way(deps, deps.executions())
    assert "executions" in await deps.at(NOW + 3_650 * DAY)


async def test_one_that_ends_long_after_it_might_have_keeps_its_end_as_long_as_any(deps: RetentionSetup) -> None:
    late = NOW + 20 * DAY
    await end_execution(deps, deps.executions(), late)
    times = await deps.times()
    assert times["executions/exec_1"] == late + 30 * DAY
    assert times["executions/exec_1/steps/receipts-000003"] == late + 30 * DAY


async def test_a_queued_execution_waits_as_long_as_it_has_to_and_goes_after_its_cancel(deps: RetentionSetup) -> None:
    executions = deps.executions()
    await FirestoreTasks(deps.clients).create(TASK)
    await executions.start(EXECUTION, most=1)
    late, stays = NOW + 400 * DAY, {"tasks", "occupancy"}
    assert await deps.at(late) == stays | {"executions"}
    await executions.cancel("exec_1", by="owner", now=late)
    assert await deps.at(late + 30 * DAY - HOUR) == stays | {"executions"}
    assert await deps.at(late + 30 * DAY) == stays


async def test_a_cancel_of_one_that_runs_tells_no_time_yet(deps: RetentionSetup) -> None:
    executions = deps.executions()
    await under_way(deps, executions)
    await executions.cancel("exec_1", by="owner", now=NOW)
    assert (await deps.times())["executions/exec_1"] is None


async def test_a_request_that_was_refused_goes_too(deps: RetentionSetup) -> None:
    await Places(deps.clients.firestore()).locate_execution("exec_1").set({"task": 7})
    await deps.executions().refuse("exec_1", "task: must be a text", {}, now=NOW)
    assert (await deps.times())["executions/exec_1"] == NOW + 30 * DAY


async def keep(deps: RetentionSetup, days: int) -> None:
    default = build_default_workspace("ann")
    changed = replace(default, retention_days=days, updated_at=NOW)
    assert await FirestoreWorkspaces(deps.clients).update(changed, ["retention_days"], since=default.updated_at)


async def test_a_workspace_that_keeps_less_has_all_of_an_execution_go_earlier(deps: RetentionSetup) -> None:
    await keep(deps, 7)
    await end_execution(deps, deps.executions(), NOW + HOUR)
    workspaces = STAYS | {"workspaces"}
    assert await deps.at(NOW + 7 * DAY) == workspaces | {"executions", "steps", "calls"}
    assert await deps.at(NOW + 6 * HOUR + 7 * DAY) == workspaces


async def test_a_workspace_never_keeps_longer_than_the_deployment_does_by_now(deps: RetentionSetup) -> None:
    await keep(deps, 60)
    await end_execution(deps, deps.executions(), NOW + HOUR)
    assert (await deps.times())["executions/exec_1"] == NOW + HOUR + 30 * DAY


async def test_a_workspace_keeps_less_of_a_deployment_that_keeps_all_for_ever(deps: RetentionSetup) -> None:
    await keep(deps, 7)
    await end_execution(deps, deps.executions(Retention()), NOW + HOUR)
    assert (await deps.times())["executions/exec_1"] == NOW + HOUR + 7 * DAY


async def test_what_is_cancelled_before_its_setup_goes_after_the_days_of_its_workspace(deps: RetentionSetup) -> None:
    await FirestoreTasks(deps.clients).create(TASK)
    await keep(deps, 7)
    await deps.executions().start(EXECUTION, most=1)
    await deps.executions().cancel("exec_1", by="owner", now=NOW + HOUR)
    assert (await deps.times())["executions/exec_1"] == NOW + HOUR + 7 * DAY


async def test_a_refused_request_goes_after_the_days_of_its_tasks_workspace(deps: RetentionSetup) -> None:
    await FirestoreTasks(deps.clients).create(TASK)
    await keep(deps, 7)
    await Places(deps.clients.firestore()).locate_execution("exec_1").set({"task": "task_1"})
    await deps.executions().refuse("exec_1", "nothing is started", {"task": "task_1"}, now=NOW)
    assert (await deps.times())["executions/exec_1"] == NOW + 7 * DAY


async def test_kept_for_ever_no_document_is_told_a_time(deps: RetentionSetup) -> None:
    await end_execution(deps, deps.executions(Retention.from_settings(Settings(retention_days=0))), NOW + HOUR)
    assert set((await deps.times()).values()) == {None}


def test_the_setting_says_how_many_days_and_the_longest_run_how_many_more() -> None:
    retention = Retention.from_settings(read({"FERRYMAN_RETENTION_DAYS": "7", "FERRYMAN_EXECUTION_S": "60"}))
    assert retention == Retention(period=7 * DAY, execution_timeout=timedelta(minutes=1))


async def test_a_request_with_a_key_expires_after_a_day(deps: RetentionSetup) -> None:
    keyed = FirestoreKeyedRequests(deps.clients)
    request = KeyedRequest(id="d" * 64, owner="ann", fingerprint="f", seed="s", claimed_at=NOW, until=NOW + HOUR)
    await keyed.complete(Completion(request=await keyed.claim(request, now=NOW), answer=b"sealed"))
    assert "keyed_requests" in await deps.at(NOW + DAY - HOUR)
    assert "keyed_requests" not in await deps.at(NOW + DAY)


async def ask_in_chat(deps: RetentionSetup) -> FirestoreConversations:
    """Ask a question in a new conversation `c`, and return where it is; its execution is `first`."""
    conversations = FirestoreConversations(deps.clients, RETENTION)
    await FirestoreOwners(deps.clients).put(OWNER)
    await FirestoreTasks(deps.clients).create(TASK)
    place = {"owner": EXECUTION.owner, "workspace": EXECUTION.workspace, "agent": EXECUTION.agent}
    chat = Conversation(id="c", task=TASK.id, created_at=NOW, updated_at=NOW, **place)
    await conversations.create(chat)
    execution = replace(EXECUTION, id="first", conversation="c", created_at=NOW)
    await conversations.ask(chat, Question(content="Where?"), execution, most=9)
    return conversations


async def test_a_conversation_expires_with_its_newest_message_and_each_message_with_its_execution(deps: RetentionSetup) -> None:
    executions = deps.executions()
    await ask_in_chat(deps)
    times = await deps.times()
    assert times["conversations/c"] == times["conversations/c/messages/00001"]
    await executions.cancel("first", by="ann", now=NOW + 8 * HOUR)
    times = await deps.times()
    assert times["conversations/c"] == times["conversations/c/messages/00002"] == times["executions/first"]


async def test_what_is_below_an_execution_outlasts_its_wait_for_a_person(deps: RetentionSetup) -> None:
    executions = deps.executions()
    execution = await under_way(deps, executions)
    await executions.park(execution, waiting_for="appr_1", keep=Decimal(1), now=NOW)
    assert await deps.at(NOW + LIFETIME + 30 * DAY) == STAYS | {"executions", "steps", "calls"}


async def test_a_question_that_waits_for_a_person_outlasts_the_wait_with_its_conversation(deps: RetentionSetup) -> None:
    executions = deps.executions()
    conversations = await ask_in_chat(deps)
    claimed, _ = await executions.claim("first", slice=0, holder="h", now=NOW, lease=LEASE)
    await executions.park(claimed, waiting_for="appr_1", keep=Decimal(0), now=NOW)
    lasting = NOW + LIFETIME + RETENTION.execution_timeout + 30 * DAY
    times = await deps.times()
    assert times["conversations/c"] == times["conversations/c/messages/00001"] == lasting
    stored = await conversations.get("c", owner=EXECUTION.owner, workspace=EXECUTION.workspace)
    assert stored is not None
    later = replace(EXECUTION, id="second", conversation="c", created_at=NOW + HOUR)
    await conversations.ask(stored, Question(content="And when?"), later, most=9)
    assert (await deps.times())["conversations/c"] == lasting


async def test_what_is_below_an_execution_that_waited_goes_with_it(deps: RetentionSetup) -> None:
    executions, back, ends = deps.executions(), NOW + DAY, NOW + DAY + HOUR
    execution = await under_way(deps, executions)
    await executions.park(execution, waiting_for="appr_1", keep=Decimal(1), now=NOW)
    claimed, _ = await executions.claim("exec_1", slice=1, holder="h", now=back, lease=2 * HOUR)
    resumed = await executions.resume(claimed, reserve=Decimal(100), now=back)
    await executions.finish(resumed, DONE, now=ends)
    assert "steps" in await deps.at(ends + 30 * DAY)
    assert await deps.at(back + 6 * HOUR + 30 * DAY) == STAYS

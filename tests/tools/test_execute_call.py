"""Executing a call in a tool function: what is trusted, what is opened, and what is stored."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.catalog.tools import get_fee
from ferryman.domain.calls.call import TicketState
from ferryman.domain.calls.refusal import CallRefusedError, refuse_unreadable_credential
from ferryman.domain.credentials.token import Token, TokenSlot
from ferryman.domain.stale import StaleError
from ferryman.inmemory.clock import START
from ferryman.ports.errors import DisabledKeyError, NotSentError, UnavailableError
from ferryman.tools.execute_call import scan_output

from .harness import ARGUMENTS, KEY, LABEL, POLICY, ToolHarness


@pytest.fixture
def harness() -> ToolHarness:
    return ToolHarness()


async def test_a_call_is_sent_and_its_result_settled(harness):
    result = await harness.execute()
    assert (result.content, harness.ticket.state, harness.ticket.result) == ("done", TicketState.SETTLED, result)


async def test_a_settled_call_is_answered_and_not_sent_again(harness):
    await harness.execute()
    await harness.execute()
    assert len(harness.sent) == 1


async def test_what_a_record_keeps_of_a_result_is_bounded(harness):
    assert len((await harness.execute()).url) == 2_048


async def test_a_key_in_the_method_is_not_repeated(harness):
    harness.arguments_ = {**ARGUMENTS, "method": KEY}
    result = await harness.execute()
    assert result.block_reason == "method_not_allowed"
    assert KEY not in str(harness.ticket.result) + result.content + str(harness.log.lines)


@pytest.mark.parametrize("field_", ["method", "url", "credential"])
async def test_a_key_in_any_argument_is_not_repeated_by_a_refusal(harness, field_):
    harness.arguments_ = {**ARGUMENTS, "headers": [], field_: KEY}
    assert KEY not in (await harness.execute()).content


async def test_a_tool_outside_the_policy_is_not_executed(harness):
    harness.ask("webhook")
    result = await harness.execute("webhook")
    assert (result.block_reason, harness.sent) == ("tool_not_enabled", [])


async def test_a_call_of_another_tool_is_not_executed(harness):
    with pytest.raises(StaleError):
        await harness.execute("http_get")


async def test_a_key_store_that_does_not_answer_gives_the_ticket_back(harness):
    harness.arguments_ = UnavailableError("Secret Manager did not answer")
    with pytest.raises(UnavailableError):
        await harness.execute()
    assert (harness.ticket.state, harness.ticket.sent_at, harness.sent) == (TicketState.INTENDED, None, [])
    harness.arguments_ = ARGUMENTS
    assert (await harness.execute()).content == "done"


async def test_a_call_that_could_have_no_token_yet_gives_the_ticket_back(harness):
    async def no_token(_: object) -> None:
        raise NotSentError("Firestore did not answer")

    harness.arguments_, harness.on_send = {**ARGUMENTS, "method": "POST"}, no_token
    with pytest.raises(UnavailableError):
        await harness.execute()
    assert (harness.ticket.state, harness.ticket.sent_at) == (TicketState.INTENDED, None)
    harness.on_send = None
    assert (await harness.execute()).content == "done"


async def test_a_gate_that_does_not_answer_keeps_the_ticket(harness):
    async def lose_answer(_: object) -> None:
        raise UnavailableError("nobody knows whether it was sent")

    harness.arguments_, harness.on_send = {**ARGUMENTS, "method": "POST"}, lose_answer
    with pytest.raises(UnavailableError):
        await harness.execute()
    assert harness.ticket.state is TicketState.SENT


async def test_a_fault_before_the_gate_is_blocked_and_costs_nothing(harness):
    harness.arguments_ = RuntimeError(KEY)
    result = await harness.execute()
    assert (result.blocked, result.block_reason, get_fee(result)) == (True, "internal_fault", 0)
    assert KEY not in str(harness.log.lines)


async def test_a_credential_that_was_rolled_back_stops_the_call(harness):
    harness.memory.versions["t"] = {"KEY": 2}
    assert (await harness.execute()).block_reason == "credential_unreadable"
    assert harness.sent == []


async def test_a_credential_stored_meanwhile_is_read_again_later(harness):
    harness.store(replace(LABEL, version=2))
    with pytest.raises(UnavailableError):
        await harness.execute()
    assert harness.ticket.state is TicketState.INTENDED


async def test_a_credential_moved_from_another_task_stops_the_call(harness):
    harness.store(replace(LABEL, task="other"))
    assert (await harness.execute()).block_reason == "credential_unreadable"


async def test_a_credential_goes_to_the_hosts_that_seal_catalog_and_task_all_admit(harness):
    harness.store(replace(LABEL, hosts=("api.coingecko.com", "evil.test")))
    await harness.execute()
    assert harness.sent[0][1]["KEY"].label.hosts == ("api.coingecko.com",)


async def test_a_credential_is_what_is_stored_under_its_name_when_the_call_is_executed(harness):
    harness.value = "StoredAfterTheTurn"
    await harness.execute()
    outbound, credentials = harness.sent[0]
    assert outbound.credential == "KEY"
    assert credentials["KEY"].secret.reveal() == "StoredAfterTheTurn"


@pytest.mark.parametrize("change", [{"integrations": ()}, {"credentials": ()}])
async def test_a_credential_outside_the_policy_goes_nowhere(harness, change):
    execution = harness.memory.executions["e"]
    harness.memory.executions["e"] = replace(execution, policy=replace(POLICY, **change))
    await harness.execute()
    assert harness.sent[0][1]["KEY"].label.hosts == ()


async def test_what_the_model_said_is_looked_through_with_every_credential_of_the_task(harness):
    seen = await scan_output(harness.deps(), execution="e", task="t", epoch=1, content=[{"type": "text", "text": "x"}])
    assert seen == ["['KEY']", {"type": "text", "text": "x"}]


async def test_only_the_holder_of_the_lease_has_anything_looked_through(harness):
    with pytest.raises(StaleError):
        await scan_output(harness.deps(), execution="e", task="t", epoch=2, content=[])


def enable(harness, *tools):
    """Allow `tools`, and store two tokens that were fetched for the task, of which one is no longer valid."""
    harness.memory.executions["e"] = replace(harness.memory.executions["e"], policy=replace(POLICY, tools=("api_call", *tools)))
    old, new = (Token(fetch=item, ciphertext=b"c", expires_at=START) for item in ("f1", "f2"))
    harness.memory.tokens["k"] = TokenSlot(owner="o", task="t", former=(old,), token=new)
    harness.memory.tokens["x"] = TokenSlot(owner="o", task="another", token=new)


async def test_what_was_fetched_for_a_task_is_among_its_credentials_and_goes_nowhere(harness):
    enable(harness, "call_custom_tool")
    await harness.execute()
    ((_, credentials),) = harness.sent
    tokens = {name: item for name, item in credentials.items() if item.name == "token"}
    assert [value.secret.reveal() for value in tokens.values()] == ["o k f2 c", "o k f1 c"]
    assert {value.label.hosts for value in tokens.values()} == {()}


async def test_what_was_fetched_is_looked_for_in_what_the_model_says(harness):
    enable(harness, "call_custom_tool")
    assert await scan_output(harness.deps(), execution="e", task="t", epoch=1, content=[]) == ["['KEY', 'token', 'token']"]


async def test_nothing_is_looked_through_while_a_token_cannot_be_opened(harness):
    enable(harness, "call_custom_tool")
    harness.open_token = fails(UnavailableError("Secret Manager did not answer"))
    with pytest.raises(UnavailableError):
        await scan_output(harness.deps(), execution="e", task="t", epoch=1, content=[])
    with pytest.raises(UnavailableError):
        await harness.execute()
    assert (harness.ticket.state, harness.sent) == (TicketState.INTENDED, [])


async def test_a_token_that_is_sealed_to_a_retired_key_holds_nothing_up(harness):
    enable(harness, "call_custom_tool")
    harness.open_token = fails(DisabledKeyError("version 1 of the key is disabled"))
    assert await scan_output(harness.deps(), execution="e", task="t", epoch=1, content=[]) == ["['KEY']"]


def fails(error):
    async def token(*_: object, **named: object) -> None:
        raise error

    return token


async def test_where_no_tool_fetches_nothing_that_was_fetched_is_opened(harness):
    enable(harness)
    await harness.execute()
    ((_, credentials),) = harness.sent
    assert list(credentials) == ["KEY"]


def test_a_credential_that_does_not_open_is_named():
    assert CallRefusedError(refuse_unreadable_credential("KEY")).refusal.credential == "KEY"

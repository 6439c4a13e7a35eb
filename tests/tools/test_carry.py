"""Carrying a call on the far bank: what is believed, what is opened, and what is written down."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.domain.calls.call import TicketState
from ferryman.domain.calls.refusal import CallRefusedError, refuse_unreadable_credential
from ferryman.domain.credentials.token import Token, TokenSlot
from ferryman.domain.stale import StaleError
from ferryman.inmemory.clock import START
from ferryman.ports.errors import DisabledKeyError, UnavailableError
from ferryman.tools.execute_call import scan_output
from ferryman.tools.prepared_call import NotSentError

from .bank import ASKED, KEY, LABEL, POLICY, Bank


@pytest.fixture
def bank() -> Bank:
    return Bank()


async def test_a_call_is_sent_and_its_result_settled(bank):
    result = await bank.carry()
    assert (result.content, bank.ticket.state, bank.ticket.result) == ("done", TicketState.SETTLED, result)


async def test_a_settled_call_is_answered_and_not_sent_again(bank):
    await bank.carry()
    await bank.carry()
    assert len(bank.sent) == 1


async def test_what_a_record_keeps_of_a_result_is_bounded(bank):
    assert len((await bank.carry()).url) == 2_048


async def test_a_key_in_the_method_is_not_repeated(bank):
    bank.arguments_ = {**ASKED, "method": KEY}
    result = await bank.carry()
    assert result.block_reason == "method_not_allowed"
    assert KEY not in str(bank.ticket.result) + result.content + str(bank.log.lines)


@pytest.mark.parametrize("field_", ["method", "url", "credential"])
async def test_a_key_in_any_argument_is_not_repeated_by_a_refusal(bank, field_):
    bank.arguments_ = {**ASKED, "headers": [], field_: KEY}
    assert KEY not in (await bank.carry()).content


async def test_a_tool_outside_the_policy_is_not_carried_whoever_asks(bank):
    bank.ask("webhook")
    result = await bank.carry("webhook")
    assert (result.block_reason, bank.sent) == ("tool_not_enabled", [])


async def test_a_call_of_another_tool_is_not_carried(bank):
    with pytest.raises(StaleError):
        await bank.carry("http_get")


async def test_a_key_store_that_does_not_answer_gives_the_ticket_back(bank):
    bank.arguments_ = UnavailableError("Secret Manager did not answer")
    with pytest.raises(UnavailableError):
        await bank.carry()
    assert (bank.ticket.state, bank.ticket.sent_at, bank.sent) == (TicketState.INTENDED, None, [])
    bank.arguments_ = ASKED
    assert (await bank.carry()).content == "done"


async def test_a_call_that_could_have_no_token_yet_gives_the_ticket_back(bank):
    async def no_token(_: object) -> None:
        raise NotSentError("Firestore did not answer")

    bank.arguments_, bank.on_send = {**ASKED, "method": "POST"}, no_token
    with pytest.raises(UnavailableError):
        await bank.carry()
    assert (bank.ticket.state, bank.ticket.sent_at) == (TicketState.INTENDED, None)
    bank.on_send = None
    assert (await bank.carry()).content == "done"


async def test_a_gate_that_does_not_answer_keeps_the_ticket(bank):
    async def lost(_: object) -> None:
        raise UnavailableError("nobody knows whether it was sent")

    bank.arguments_, bank.on_send = {**ASKED, "method": "POST"}, lost
    with pytest.raises(UnavailableError):
        await bank.carry()
    assert bank.ticket.state is TicketState.SENT


async def test_a_fault_before_the_gate_is_blocked_and_costs_nothing(bank):
    bank.arguments_ = RuntimeError(KEY)
    result = await bank.carry()
    assert (result.blocked, result.block_reason, result.fee) == (True, "internal_fault", 0)
    assert KEY not in str(bank.log.lines)


async def test_a_credential_that_was_rolled_back_stops_the_call(bank):
    bank.memory.versions["t"] = {"KEY": 2}
    assert (await bank.carry()).block_reason == "credential_unreadable"
    assert bank.sent == []


async def test_a_credential_stored_meanwhile_is_read_again_later(bank):
    bank.store(replace(LABEL, version=2))
    with pytest.raises(UnavailableError):
        await bank.carry()
    assert bank.ticket.state is TicketState.INTENDED


async def test_a_credential_moved_from_another_task_stops_the_call(bank):
    bank.store(replace(LABEL, task="other"))
    assert (await bank.carry()).block_reason == "credential_unreadable"


async def test_a_credential_goes_to_the_hosts_that_seal_catalog_and_task_all_admit(bank):
    bank.store(replace(LABEL, hosts=("api.coingecko.com", "evil.test")))
    await bank.carry()
    assert bank.sent[0][1]["KEY"].label.hosts == ("api.coingecko.com",)


async def test_a_credential_is_what_is_stored_under_its_name_when_the_call_is_carried(bank):
    bank.value = "StoredAfterTheTurn"
    await bank.carry()
    outbound, credentials = bank.sent[0]
    assert outbound.credential == "KEY"
    assert credentials["KEY"].secret.reveal() == "StoredAfterTheTurn"


@pytest.mark.parametrize("change", [{"integrations": ()}, {"credentials": ()}])
async def test_a_credential_outside_the_policy_goes_nowhere(bank, change):
    execution = bank.memory.executions["e"]
    bank.memory.executions["e"] = replace(execution, policy=replace(POLICY, **change))
    await bank.carry()
    assert bank.sent[0][1]["KEY"].label.hosts == ()


async def test_what_the_model_said_is_looked_through_with_every_credential_of_the_task(bank):
    seen = await scan_output(bank.deps(), execution="e", epoch=1, content=[{"type": "text", "text": "x"}])
    assert seen == ["['KEY']", {"type": "text", "text": "x"}]


async def test_only_the_holder_of_the_lease_has_anything_looked_through(bank):
    with pytest.raises(StaleError):
        await scan_output(bank.deps(), execution="e", epoch=2, content=[])


def fetched(bank, *tools):
    """`tools` enabled, and two tokens that were fetched for the task, one of them good no more."""
    bank.memory.executions["e"] = replace(bank.memory.executions["e"], policy=replace(POLICY, tools=("api_call", *tools)))
    old, new = (Token(fetch=each, ciphertext=b"c", expires_at=START) for each in ("f1", "f2"))
    bank.memory.tokens["k"] = TokenSlot(owner="o", task="t", former=(old,), token=new)
    bank.memory.tokens["x"] = TokenSlot(owner="o", task="another", token=new)


async def test_what_was_fetched_for_a_task_is_among_its_credentials_and_goes_nowhere(bank):
    fetched(bank, "call_custom_tool")
    await bank.carry()
    ((_, credentials),) = bank.sent
    tokens = {name: each for name, each in credentials.items() if each.name == "token"}
    assert [each.secret.reveal() for each in tokens.values()] == ["o k f2 c", "o k f1 c"]
    assert {each.label.hosts for each in tokens.values()} == {()}


async def test_what_was_fetched_is_looked_for_in_what_the_model_says(bank):
    fetched(bank, "call_custom_tool")
    assert await scan_output(bank.deps(), execution="e", epoch=1, content=[]) == ["['KEY', 'token', 'token']"]


async def test_nothing_is_looked_through_while_a_token_cannot_be_opened(bank):
    fetched(bank, "call_custom_tool")
    bank.open_token = fails(UnavailableError("Secret Manager did not answer"))
    with pytest.raises(UnavailableError):
        await scan_output(bank.deps(), execution="e", epoch=1, content=[])
    with pytest.raises(UnavailableError):
        await bank.carry()
    assert (bank.ticket.state, bank.sent) == (TicketState.INTENDED, [])


async def test_a_token_that_is_sealed_to_a_retired_key_holds_nothing_up(bank):
    fetched(bank, "call_custom_tool")
    bank.open_token = fails(DisabledKeyError("version 1 of the key is disabled"))
    assert await scan_output(bank.deps(), execution="e", epoch=1, content=[]) == ["['KEY']"]


def fails(error):
    async def token(*_: object, **named: object) -> None:
        raise error

    return token


async def test_where_no_tool_fetches_nothing_that_was_fetched_is_opened(bank):
    fetched(bank)
    await bank.carry()
    ((_, credentials),) = bank.sent
    assert list(credentials) == ["KEY"]


def test_a_credential_that_does_not_open_is_named():
    assert CallRefusedError(refuse_unreadable_credential("KEY")).refusal.credential == "KEY"

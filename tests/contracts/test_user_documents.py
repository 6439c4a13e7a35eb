"""Users' documents: written with a call's result or not at all, once, and only where what was read is still so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ferryman.domain.calls.call import TicketState
from ferryman.domain.executions.context import ExecutionContext
from ferryman.domain.owners.user_changes import UserChanges
from ferryman.ports.local_functions import build_user_id
from ferryman.ports.tickets import ClaimedCall

from .conftest import Stores
from .test_tickets import journaled
from .values import EXECUTION, LATER, NOW, RESULT, call_request

ANN, PATH, OTHER = build_user_id(EXECUTION.context), "user_memory/taste", "user_memory/dietary"
DEEP = {"preferences": ["tea", [["a"], None]], "n": 1.5, "é": {"x": {}}}


async def claim(stores: Stores, seq: int = 0) -> ClaimedCall:
    return await stores.tickets.claim(call_request(seq), tool="api_call", now=NOW)


async def settle(
    stores: Stores, claimed: ClaimedCall, changes: UserChanges, context: ExecutionContext = EXECUTION.context
) -> bool:
    return await stores.tickets.settle_changes(claimed, RESULT, changes, context=context, now=LATER)


def place(**others: str) -> ExecutionContext:
    return replace(EXECUTION.context, **others)


async def test_what_was_never_written_is_not_there(stores: Stores) -> None:
    assert await stores.user_documents.get(ANN, PATH) == (None, "")


async def test_a_document_comes_back_as_it_was_with_the_call_settled(stores: Stores) -> None:
    await journaled(stores)
    assert await settle(stores, await claim(stores), UserChanges({PATH: ""}, {PATH: DEEP, OTHER: {}}))
    document, version = await stores.user_documents.get(ANN, PATH)
    assert (document, bool(version)) == (DEEP, True)
    assert (await stores.user_documents.get(ANN, OTHER))[0] == {}
    ticket = next(iter(await stores.executions.tickets("exec_1")))
    assert (ticket.state, ticket.result, ticket.settled_at) == (TicketState.SETTLED, RESULT, LATER)


@pytest.mark.parametrize("others", [{"user": "bob", "owner": "bob"}, {"user": "person_1"}, {"workspace": "w"}], ids=list)
async def test_no_other_user_and_no_other_workspace_has_it(stores: Stores, others: dict[str, str]) -> None:
    await journaled(stores)
    await settle(stores, await claim(stores), UserChanges({}, {PATH: DEEP}))
    assert await stores.user_documents.get(build_user_id(place(**others)), PATH) == (None, "")


async def test_the_documents_of_a_workspace_are_deleted_in_pieces_and_no_others(stores: Stores) -> None:
    await journaled(stores)
    here, there = place(workspace="w", user="person_1"), place(workspace="v", user="person_1")
    await settle(stores, await claim(stores, 0), UserChanges({}, {PATH: DEEP, OTHER: DEEP}), here)
    await settle(stores, await claim(stores, 1), UserChanges({}, {PATH: DEEP}), there)
    deleted = [await stores.user_documents.delete("w", collections=["user_memory"], most=1) for _ in range(3)]
    assert deleted == [1, 1, 0]
    assert (await stores.user_documents.get(build_user_id(here), PATH))[0] is None
    assert (await stores.user_documents.get(build_user_id(there), PATH))[0] == DEEP


async def test_the_documents_of_a_workspace_are_listed_in_pages(stores: Stores) -> None:
    await journaled(stores)
    places = [place(workspace="w", user=f"person_{number}") for number in range(2)]
    for seq, here in enumerate(places):
        await settle(stores, await claim(stores, seq), UserChanges({}, {PATH: DEEP, OTHER: {"of": seq}}), here)
    first = await stores.user_documents.list("w", "user_memory", most=3)
    second = await stores.user_documents.list("w", "user_memory", after=first.end, most=3)
    assert (len(first.items), len(second.items), second.end) == (3, 1, "")
    listed = [*first.items, *second.items]
    assert [(item.user, item.path) for item in listed] == sorted(
        (build_user_id(here), path) for here in places for path in (PATH, OTHER)
    )
    last = {item.path: item.content for item in listed if item.user == build_user_id(places[1])}
    assert last == {PATH: DEEP, OTHER: {"of": 1}}


async def test_the_documents_of_another_workspace_are_not_listed(stores: Stores) -> None:
    await journaled(stores)
    await settle(stores, await claim(stores, 0), UserChanges({}, {PATH: DEEP}), place(workspace="w", user="person_1"))
    await settle(stores, await claim(stores, 1), UserChanges({}, {PATH: {}}), place(workspace="v", user="person_1"))
    page = await stores.user_documents.list("w", "user_memory", most=1)
    assert ([item.content for item in page.items], page.end) == ([DEEP], "")


async def test_a_workspace_without_documents_lists_none(stores: Stores) -> None:
    page = await stores.user_documents.list("w", "user_memory", most=2)
    assert (page.items, page.end) == ((), "")


async def test_the_documents_of_a_user_are_deleted_and_no_others(stores: Stores) -> None:
    await journaled(stores)
    other = place(user="person_1")
    await settle(stores, await claim(stores, 0), UserChanges({}, {PATH: DEEP, OTHER: DEEP}))
    await settle(stores, await claim(stores, 1), UserChanges({}, {PATH: DEEP}), other)
    await stores.user_documents.delete_user(ANN, collections=["user_memory"])
    assert [(await stores.user_documents.get(ANN, path))[0] for path in (PATH, OTHER)] == [None, None]
    assert (await stores.user_documents.get(build_user_id(other), PATH))[0] == DEEP


async def test_nothing_is_stored_where_what_was_read_has_changed(stores: Stores) -> None:
    await journaled(stores)
    first, second = await claim(stores, 0), await claim(stores, 1)
    assert await settle(stores, first, UserChanges({PATH: ""}, {PATH: {"n": 1}}))
    assert not await settle(stores, second, UserChanges({PATH: ""}, {PATH: {"n": 2}, OTHER: {}}))
    assert (await stores.user_documents.get(ANN, PATH))[0] == {"n": 1}
    assert await stores.user_documents.get(ANN, OTHER) == (None, "")
    assert (await stores.executions.tickets("exec_1"))[1].state is TicketState.SENT
    _, version = await stores.user_documents.get(ANN, PATH)
    assert await settle(stores, second, UserChanges({PATH: version}, {PATH: {"n": 3}}))
    assert (await stores.user_documents.get(ANN, PATH))[0] == {"n": 3}


async def test_a_document_that_was_deleted_is_not_there(stores: Stores) -> None:
    await journaled(stores)
    first, second = await claim(stores, 0), await claim(stores, 1)
    await settle(stores, first, UserChanges({}, {PATH: {"n": 1}}))
    assert await settle(stores, second, UserChanges({}, {PATH: None}))
    assert await stores.user_documents.get(ANN, PATH) == (None, "")


async def test_a_result_that_is_stored_twice_writes_once(stores: Stores) -> None:
    await journaled(stores)
    first, second = await claim(stores, 0), await claim(stores, 1)
    await settle(stores, first, UserChanges({}, {PATH: {"n": 1}}))
    await settle(stores, second, UserChanges({}, {PATH: {"n": 2}}))
    assert await settle(stores, first, UserChanges({}, {PATH: {"n": 1}}))
    assert (await stores.user_documents.get(ANN, PATH))[0] == {"n": 2}


async def test_an_attempt_that_another_has_taken_over_writes_nothing(stores: Stores) -> None:
    await journaled(stores)
    claimed = await claim(stores)
    earlier = replace(claimed, ticket=replace(claimed.ticket, attempt=0))
    assert await settle(stores, earlier, UserChanges({}, {PATH: {"n": 1}}))
    assert await stores.user_documents.get(ANN, PATH) == (None, "")
    assert next(iter(await stores.executions.tickets("exec_1"))).state is TicketState.SENT

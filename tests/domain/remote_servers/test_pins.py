"""Pins: nothing but the very descriptor that a person has accepted is accepted, whatever a server lists, in whatever order."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.problem import InvalidInputError
from ferryman.domain.remote_servers.pin import PinState, ToolPin
from ferryman.domain.remote_servers.pins import (
    ListedDescriptor,
    accept_pins,
    compare_pins,
    disable_pins,
    forget_acceptance,
)

NOW = datetime(2026, 11, 29, tzinfo=UTC)
listings = st.lists(
    st.builds(
        ListedDescriptor,
        tool=st.sampled_from("abcd"),
        digest=st.sampled_from(["d1", "d2", "d3"]),
        refusal=st.sampled_from([None, None, None, "it is refused"]),
    ),
    max_size=4,
    unique_by=lambda listed: listed.tool,
)


def pinned(*listing: ListedDescriptor, accept: bool = True) -> tuple[ToolPin, ...]:
    pins = compare_pins("books", (), listing)
    return accept_pins(pins, {pin.tool: pin.pending for pin in pins if pin.pending}, now=NOW) if accept else pins


def states(pins: Sequence[ToolPin]) -> dict[str, str]:
    return {pin.tool: pin.state.value for pin in pins}


def test_a_new_tool_waits_for_a_person() -> None:
    assert states(compare_pins("books", (), [ListedDescriptor(tool="a", digest="d1")])) == {"a": "new"}


def test_a_new_tool_of_an_accepted_server_waits_as_well() -> None:
    pins = pinned(ListedDescriptor(tool="a", digest="d1"))
    listing = [ListedDescriptor(tool="a", digest="d1"), ListedDescriptor(tool="b", digest="d1")]
    assert states(compare_pins("books", pins, listing)) == {"a": "accepted", "b": "new"}


def test_a_changed_tool_is_disabled_and_names_what_it_became() -> None:
    pins = compare_pins("books", pinned(ListedDescriptor(tool="a", digest="d1")), [ListedDescriptor(tool="a", digest="d2")])
    assert [(pin.state, pin.digest, pin.pending) for pin in pins] == [(PinState.CHANGED, "d1", "d2")]


def test_a_renamed_tool_is_a_new_one_and_one_that_is_gone() -> None:
    pins = compare_pins("books", pinned(ListedDescriptor(tool="a", digest="d1")), [ListedDescriptor(tool="b", digest="d1")])
    assert states(pins) == {"a": "gone", "b": "new"}


def test_what_becomes_again_as_it_was_accepted_is_accepted_again() -> None:
    first, second = [ListedDescriptor(tool="a", digest="d1")], [ListedDescriptor(tool="a", digest="d2")]
    changed = compare_pins("books", pinned(*first), second)
    assert compare_pins("books", changed, first) == pinned(*first)
    accepted = accept_pins(changed, {"a": "d2"}, now=NOW)
    assert states(compare_pins("books", accepted, first)) == {"a": "changed"}


def test_what_a_person_disabled_stays_disabled_until_a_person_accepts_it_again() -> None:
    first, second = [ListedDescriptor(tool="a", digest="d1")], [ListedDescriptor(tool="a", digest="d2")]
    pins = disable_pins(pinned(*first), ["a"])
    for listing in (first, second, [], first):
        pins = compare_pins("books", pins, listing)
    assert states(pins) == {"a": "disabled"}
    assert states(accept_pins(pins, {"a": "d1"}, now=NOW)) == {"a": "accepted"}


@pytest.mark.parametrize("digests", [{"a": "d2"}, {"b": "d1"}, {"a": "d1", "c": "d1"}])
def test_only_what_is_listed_is_accepted_and_otherwise_nothing(digests: dict[str, str]) -> None:
    pins = pinned(ListedDescriptor(tool="a", digest="d1"), ListedDescriptor(tool="c", digest="d2"), accept=False)
    with pytest.raises(InvalidInputError, match="digests"):
        accept_pins(pins, digests, now=NOW)


def test_a_refused_tool_is_accepted_by_nobody() -> None:
    pins = pinned(ListedDescriptor(tool="a", digest="d1", refusal="looks like b"), accept=False)
    with pytest.raises(InvalidInputError, match=r"digests\.a: is refused, and cannot be accepted: looks like b"):
        accept_pins(pins, {"a": "d1"}, now=NOW)


@given(st.lists(listings, min_size=1, max_size=6), st.data())
def test_nothing_is_accepted_that_no_person_has_accepted(history: list[list[ListedDescriptor]], data: st.DataObject) -> None:
    pins: tuple[ToolPin, ...] = ()
    accepted: dict[str, str] = {}
    for listing in history:
        pins = compare_pins("books", pins, listing)
        for pin in pins:
            listed = {tool.tool: tool for tool in listing}.get(pin.tool)
            is_same = listed is not None and listed.refusal is None and accepted.get(pin.tool) == listed.digest
            assert (pin.state is PinState.ACCEPTED) == is_same
        choice = [pin for pin in pins if pin.pending and pin.state is not PinState.REFUSED and data.draw(st.booleans())]
        digests = {pin.tool: pin.pending for pin in choice if pin.pending}
        pins, accepted = accept_pins(pins, digests, now=NOW), accepted | digests


@given(listings, listings.flatmap(lambda listing: st.tuples(st.just(listing), st.permutations(listing))))
def test_the_order_of_a_listing_changes_nothing(
    first: list[ListedDescriptor], orders: tuple[list[ListedDescriptor], list[ListedDescriptor]]
) -> None:
    before = compare_pins("books", (), first)
    assert compare_pins("books", before, orders[0]) == compare_pins("books", before, orders[1])


def test_a_server_that_moved_or_was_imported_has_nothing_accepted() -> None:
    pins = pinned(ListedDescriptor(tool="a", digest="d1"), ListedDescriptor(tool="b", digest="d2"))
    pins = compare_pins("books", pins, [ListedDescriptor(tool="a", digest="d1")])
    assert [(pin.tool, pin.state, pin.digest, pin.pending) for pin in forget_acceptance(pins)] == [
        ("a", PinState.NEW, None, "d1")
    ]


def test_a_server_that_moves_has_nothing_accepted_of_what_is_refused_now_either() -> None:
    pins = compare_pins(
        "books", pinned(ListedDescriptor(tool="a", digest="d1")), [ListedDescriptor(tool="a", digest="d1", refusal="no")]
    )
    after = compare_pins("books", forget_acceptance(pins), [ListedDescriptor(tool="a", digest="d1")])
    assert states(after) == {"a": "new"}

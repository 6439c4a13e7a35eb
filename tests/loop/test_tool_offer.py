"""What the model is shown of declared tools: whole clusters while they fit, the names of the others, in one order for ever."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.catalog.tools import TOOLS
from ferryman.domain.tools.declared import DeclaredTool, Parameter
from ferryman.loop.tool_offer import (
    DEFINITIONS_BYTES_MAX,
    NAMES_BYTES_MAX,
    ToolOffer,
    TooManyToolsError,
    build_offer,
    make_offer,
    select_definitions,
)

BUILT_IN = [tool.to_definition() for tool in TOOLS.values() if tool.kind == "declared"]
CALL = "call_custom_tool"


def tool(name: str, cluster: str = "", *, size: int = 0, **fields: Any) -> DeclaredTool:
    """Return a tool whose description has `size` characters."""
    return DeclaredTool(name=name, cluster=cluster, url="https://api.test/x", **{"description": "x" * size, **fields})


def names(definitions: Sequence[Any]) -> list[str]:
    return [definition["name"] for definition in definitions]


def size(definitions: Sequence[Any]) -> int:
    return len(json.dumps(definitions))


def caller(definitions: Sequence[Any]) -> str:
    """Return the description of call_custom_tool."""
    (text,) = (definition["description"] for definition in definitions if definition["name"] == CALL)
    return str(text)


def filling() -> int:
    """Count the characters of the description of one tool `a` in the cluster `c` that just fits beside the built-in ones."""
    return DEFINITIONS_BYTES_MAX - size(select_definitions(BUILT_IN, [tool("a", "c", size=1)])) + 1


def test_without_declared_tools_the_definitions_are_as_they_were():
    assert select_definitions(BUILT_IN, []) == tuple(BUILT_IN)


def test_a_declared_tool_is_shown_with_its_schema():
    declared = tool("look", description="Looks.", parameters={"id": Parameter(schema={"type": "string"})})
    assert select_definitions([], [declared]) == ({"name": "look", "description": "Looks.", "input_schema": declared.schema},)


def test_a_tool_without_a_description_is_described_by_its_summary():
    assert select_definitions([], [tool("look", summary="Looks at it.")])[0]["description"] == "Looks at it."


def test_a_tool_that_is_switched_off_is_not_shown():
    assert names(select_definitions([], [tool("off", enabled=False), tool("on")])) == ["on"]


def test_a_tool_that_is_switched_off_takes_no_room():
    definitions = select_definitions(BUILT_IN, [tool("off", "c", size=DEFINITIONS_BYTES_MAX, enabled=False), tool("on", "c")])
    assert (names(definitions)[-1], caller(definitions)) == ("on", BUILT_IN[1]["description"])


def test_ungrouped_tools_come_first_and_then_the_smallest_cluster():
    declared = [tool("big", "a", size=500), tool("small", "b"), tool("own", size=900)]
    assert names(select_definitions(BUILT_IN, declared))[len(BUILT_IN) :] == ["own", "small", "big"]


def test_clusters_of_one_size_come_by_their_names():
    assert names(select_definitions([], [tool("x", "b"), tool("y", "c"), tool("z", "a")])) == ["z", "x", "y"]


def test_the_tools_of_a_cluster_keep_their_order():
    assert names(select_definitions([], [tool("z", "c"), tool("m", "d"), tool("a", "c"), tool("n", "c")])) == [
        "m",
        "z",
        "a",
        "n",
    ]


@settings(max_examples=20)
@given(st.permutations(["", "a", "b", "c", "d"]))
def test_whatever_order_clusters_come_in_the_definitions_are_the_same(order):
    declared = {name: [tool(f"{name}x{n}", name, size=70_000 if name in "cd" else 9) for n in (1, 2)] for name in order}
    definitions = select_definitions(BUILT_IN, [definition for name in order for definition in declared[name]])
    assert definitions == select_definitions(BUILT_IN, [definition for name in sorted(order) for definition in declared[name]])


def test_two_hundred_thousand_bytes_are_shown():
    definitions = select_definitions(BUILT_IN, [tool("a", "c", size=filling())])
    assert (names(definitions)[-1], size(definitions)) == ("a", 200_000)


def test_one_byte_more_is_shown_by_name():
    definitions = select_definitions(BUILT_IN, [tool("a", "c", size=filling() + 1)])
    assert names(definitions) == names(BUILT_IN)
    assert caller(definitions).endswith("\nc: a")


def test_bytes_are_counted_as_they_are_sent():
    definitions = select_definitions(BUILT_IN, [tool("a", "c", description="é" * 50_000)])
    assert names(definitions) == names(BUILT_IN)


def test_only_the_largest_cluster_is_named_where_the_others_fit():
    declared = [tool("huge_1", "huge", size=100_000), tool("huge_2", "huge", size=100_000), tool("b", "mid", size=60_000)]
    definitions = select_definitions(BUILT_IN, [*declared, tool("c", "small", size=50_000)])
    assert names(definitions)[len(BUILT_IN) :] == ["c", "b"]
    assert caller(definitions).endswith(":\nhuge: huge_1, huge_2")


def test_a_cluster_is_shown_whole_or_not_at_all():
    definitions = select_definitions(BUILT_IN, [tool("tiny", "c"), tool("huge", "c", size=DEFINITIONS_BYTES_MAX)])
    assert names(definitions) == names(BUILT_IN)
    assert caller(definitions).endswith("\nc: tiny, huge")


def test_ungrouped_tools_that_do_not_fit_are_named_as_ungrouped():
    assert caller(select_definitions(BUILT_IN, [tool("own", size=DEFINITIONS_BYTES_MAX)])).endswith("\nungrouped: own")


def test_where_even_the_names_are_too_many_they_are_counted():
    declared = [tool(f"{'n' * 50}{number}", "c", size=100) for number in range(2_000)]
    assert caller(select_definitions(BUILT_IN, declared)).endswith("\nc: 2,000 tools")


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(st.sampled_from(("", "a", "b", "é" * 64, "😀" * 64)), st.sampled_from((1, 5_000, 39_000, 70_000))),
        max_size=12,
    ),
    st.integers(0, 900),
)
def test_never_more_than_two_hundred_thousand_bytes_are_shown_names_included(drawn, many):
    declared = [tool(f"t{number}", cluster, size=size_) for number, (cluster, size_) in enumerate(drawn)]
    declared += [tool(f"{'n' * 40}{number}", "many", size=150) for number in range(many)]
    assert size(select_definitions(BUILT_IN, declared)) <= DEFINITIONS_BYTES_MAX


def test_fifty_clusters_of_the_longest_names_take_no_more_either():
    declared = [tool(f"{'n' * 55}{number}", "😀" * 62 + f"{number % 50:02}", size=5_000) for number in range(1_000)]
    assert size(select_definitions(BUILT_IN, declared)) <= DEFINITIONS_BYTES_MAX


def test_the_definitions_that_were_given_are_not_changed():
    before = json.dumps(BUILT_IN)
    select_definitions(BUILT_IN, [tool("a", size=DEFINITIONS_BYTES_MAX)])
    assert json.dumps(BUILT_IN) == before


@pytest.mark.parametrize(
    "tools", [[], [definition for definition in BUILT_IN if definition["name"] != CALL]], ids=["none", "the others"]
)
def test_what_does_not_fit_needs_a_tool_that_reaches_it(tools):
    with pytest.raises(TooManyToolsError, match=f"2 declared tools do not fit .* enable find_tools or {CALL}"):
        select_definitions(tools, [tool("a", "c"), tool("b", "c", size=DEFINITIONS_BYTES_MAX), tool("d", "e")])


def test_what_fits_needs_no_such_tool():
    assert names(select_definitions([], [tool("a", "c")])) == ["a"]


def test_an_offer_has_the_definitions_and_the_fingerprints_of_the_enabled_tools():
    declared = [tool("on", "c"), tool("off", "c", enabled=False, reason="why")]
    assert make_offer(BUILT_IN, declared) == ToolOffer(
        tools=select_definitions(BUILT_IN, declared), fingerprints={"on": declared[0].fingerprint}
    )


def test_an_offer_of_too_many_tools_is_a_fault_for_the_owner():
    offer = make_offer([], [tool("a", size=DEFINITIONS_BYTES_MAX)])
    assert (offer.tools, offer.fingerprints) == ((), {})
    assert "1 declared tools do not fit" in str(offer.fault)


def test_names_that_fill_their_part_are_listed_and_one_byte_more_is_counted():
    def listing(length: int) -> str:
        definitions = select_definitions(BUILT_IN, [tool("n" * length, "c", size=DEFINITIONS_BYTES_MAX)])
        return caller(definitions).removeprefix(BUILT_IN[1]["description"])

    most = NAMES_BYTES_MAX - size(listing(1)) + 1
    assert (listing(most)[-3:], listing(most + 1)[-6:]) == ("nnn", "1 tool")


def test_the_clusters_that_do_not_fit_are_listed_by_name_a_line_each():
    declared = [tool(name, name.upper(), size=DEFINITIONS_BYTES_MAX) for name in ("z", "a")]
    assert caller(select_definitions(BUILT_IN, declared)).endswith("an error says what a call lacks:\nA: a\nZ: z")


async def test_without_declared_tools_the_offer_is_that_of_the_built_in_ones():
    assert await build_offer("o", BUILT_IN, []) == ToolOffer(tools=tuple(BUILT_IN))


async def test_an_offer_of_declared_tools_is_made_for_their_owner():
    assert await build_offer("o", BUILT_IN, [tool("a")]) == make_offer(BUILT_IN, [tool("a")])


def describe_pets(count: int) -> list[DeclaredTool]:
    """Return tools that do not fit together, one of which refunds."""
    pets = [tool(f"get_pet_{number}", "pets", description=f"Return pet {'x' * 5_000}.") for number in range(count)]
    return [*pets, tool("create_refund", "pets", description="Refund a payment of a customer.")]


def test_where_not_all_fit_the_tools_that_the_prompt_asks_for_are_shown():
    definitions = select_definitions(BUILT_IN, describe_pets(60), "Refund the last payment of each customer who complained.")
    assert names(definitions)[len(BUILT_IN) :] == ["create_refund"]
    assert "create_refund" not in caller(definitions)


def test_where_all_fit_the_prompt_changes_nothing():
    declared = describe_pets(3)
    assert select_definitions(BUILT_IN, declared, "Refund a payment.") == select_definitions(BUILT_IN, declared)


def test_a_prompt_that_asks_for_no_tool_changes_nothing():
    declared = describe_pets(60)
    assert select_definitions(BUILT_IN, declared, "Good morning!") == select_definitions(BUILT_IN, declared)


@given(st.sampled_from(("refund a payment", "get_pet_3", "return a pet", "")), st.sets(st.integers(0, 60)), st.integers(0, 60))
@settings(max_examples=25)
def test_no_prompt_shows_a_tool_twice_or_one_that_is_not_enabled_or_too_many_bytes(prompt, disabled, count):
    declared = [
        replace(declared_tool, enabled=number not in disabled) for number, declared_tool in enumerate(describe_pets(count))
    ]
    definitions = select_definitions(BUILT_IN, declared, prompt)
    visible = names(definitions)[len(BUILT_IN) :]
    assert len(visible) == len(set(visible))
    assert set(visible) <= {declared_tool.name for declared_tool in declared if declared_tool.enabled}
    assert size(definitions) <= DEFINITIONS_BYTES_MAX

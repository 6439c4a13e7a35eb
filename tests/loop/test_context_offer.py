"""What the model is shown where tools are loaded by context: a core, what words trigger, and what fits the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.catalog.tool_triggers import CORE, TRIGGERED
from ferryman.catalog.tools import LISTED, TOOLS
from ferryman.domain.tasks.task import ToolLoading
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.domain.tools.tool import build_definition
from ferryman.loop.context_offer import CHARACTERS_PER_TOKEN, TOKENS_MAX, measure, select_in_context
from ferryman.loop.tool_offer import OfferContext, build_offer

EVERY = [build_definition(tool.name, tool.description, {"type": "object"}) for tool in LISTED.values()]
BUILT_IN = [tool.to_definition() for tool in TOOLS.values()]


def tool(name: str, description: str = "", *, cluster: str = "", enabled: bool = True) -> DeclaredTool:
    return DeclaredTool(name=name, description=description, cluster=cluster, url="https://api.test/x", enabled=enabled)


CLINIC = [
    tool("book_visit", "Book a visit at the clinic.", cluster="clinic"),
    tool("list_doctors", "List the doctors of the clinic.", cluster="clinic"),
    tool("send_invoice", "Send an invoice to a customer.", cluster="billing"),
]


def select(
    text: str, declared: Sequence[DeclaredTool] = (), definitions: Sequence[Any] = BUILT_IN, prompt: str | None = None
) -> list[str]:
    selected = select_in_context(definitions, declared, message=text, prompt=text if prompt is None else prompt)
    return [definition["name"] for definition in selected]


def test_without_a_keyword_the_core_alone_is_shown() -> None:
    assert select("Good morning") == [name for name in TOOLS if name in CORE]


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("Search for React tutorials", ["search_knowledge", "browse_url"]),
        ("Send a message to John on Telegram", ["send_message", "list_gateways", "get_contact"]),
        ("Run my daily report workflow", ["execute_workflow", "list_workflows", "get_workflow_status"]),
    ],
)
def test_the_examples_show_their_tools_in_the_order_of_the_registry(message: str, names: list[str]) -> None:
    definitions = [definition for definition in EVERY if definition["name"] in TRIGGERED]
    assert select(message, definitions=definitions) == names


def test_custom_tools_are_shown_where_the_message_names_them() -> None:
    named = {"import_openapi_tools", "call_custom_tool", "delete_tool_cluster"}
    assert named <= set(select("Import the openapi document"))
    assert not named & set(select("Good morning"))


def test_a_keyword_shows_nothing_that_the_owner_has_not_enabled() -> None:
    assert select("Search, browse, remember and send", definitions=[]) == []


def test_words_of_the_system_prompt_trigger_nothing() -> None:
    prompted = select("Good morning", prompt="Good morning\nImport the openapi document")
    assert TRIGGERED.intersection(prompted) == TRIGGERED.intersection(select("Good morning"))


def test_tools_of_the_task_are_shown_where_the_prompt_asks_for_them() -> None:
    assert {"book_visit", "send_invoice"} & set(select("Book a visit at the clinic", CLINIC)) == {"book_visit"}


def test_a_name_in_the_system_prompt_shows_its_tool() -> None:
    assert "send_invoice" in select("Good morning", CLINIC, prompt="Good morning\nAlways call send_invoice at the end")


def test_a_tool_that_is_switched_off_is_not_shown() -> None:
    assert "book_visit" not in select("book_visit", [tool("book_visit", enabled=False)])


def test_the_search_says_which_clusters_have_more() -> None:
    (finder,) = (
        definition["description"]
        for definition in select_in_context(BUILT_IN, CLINIC, message="", prompt="")
        if definition["name"] == "find_tools"
    )
    assert finder.endswith(" Not listed are tools of: billing (1), clinic (2).")


def test_a_thousand_tools_cost_no_more_than_the_budget() -> None:
    many = [tool(f"visit_{number}", "Book a visit at the clinic. " * 20, cluster=f"c{number % 40}") for number in range(1_000)]
    selected = select_in_context(BUILT_IN, many, message="Book a visit", prompt="Book a visit at the clinic")
    assert sum(map(measure, selected)) <= TOKENS_MAX * CHARACTERS_PER_TOKEN
    assert sum(definition["name"].startswith("visit_") for definition in selected) >= 3


def test_every_built_in_tool_at_once_is_within_the_budget() -> None:
    everything = "browse remember find run send email schedule sql openapi"
    selected = select_in_context(BUILT_IN, CLINIC, message=everything, prompt=everything)
    assert sum(map(measure, selected)) <= TOKENS_MAX * CHARACTERS_PER_TOKEN


@given(
    st.lists(st.sampled_from(BUILT_IN), unique_by=lambda definition: definition["name"]),
    st.lists(st.sampled_from([*CLINIC, tool("off", "Book a visit", enabled=False)]), unique_by=lambda tool: tool.name),
    st.lists(st.sampled_from(("book visit", "clinic", "openapi", "find_tools", "send invoice", "call_custom_tool", "off"))).map(
        " ".join
    ),
)
def test_only_what_is_enabled_is_shown_and_each_once(definitions: Any, declared: Any, text: str) -> None:
    selected = select(text, declared, definitions)
    enabled = {definition["name"] for definition in definitions} | {tool.name for tool in declared if tool.enabled}
    assert len(selected) == len(set(selected))
    assert set(selected) <= enabled


async def test_an_offer_by_context_has_every_fingerprint_and_shows_few() -> None:
    context = OfferContext(loading=ToolLoading.CONTEXT_AWARE, message="Book a visit", prompt="Book a visit at the clinic")
    offer = await build_offer("o", BUILT_IN, CLINIC, context)
    assert (set(offer.fingerprints), offer.fault) == ({tool.name for tool in CLINIC}, None)
    assert {"book_visit", "send_invoice"} & {definition["name"] for definition in offer.tools} == {"book_visit"}

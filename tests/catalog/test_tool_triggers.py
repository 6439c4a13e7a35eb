"""Keywords that load tools: whole words in any case and in the plural, all rows together, and only what they stand for."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman import catalog
from ferryman.catalog.tool_triggers import CORE, ROWS, TRIGGERED, match_triggers, read_triggers
from ferryman.catalog.tools import LISTED
from ferryman.settings import MisconfiguredError

DOCUMENT: dict[str, Any] = json.loads(files(catalog).joinpath("tool_triggers.json").read_text())
MESSAGING = {"send_message", "list_gateways", "get_contact"}
WORKFLOWS = {"execute_workflow", "list_workflows", "get_workflow_status"}
KNOWLEDGE = {"search_knowledge", "browse_url"}


def test_there_are_eight_rows_with_as_many_keywords_as_the_specification_has() -> None:
    counts = [("Browser", 7), ("Memory", 5), ("Knowledge", 5), ("Workflows", 5), ("Messaging", 5), ("Calendar", 5), ("SQL", 5)]
    assert [(row.name, len(row.keywords)) for row in ROWS] == [*counts, ("Custom / OpenAPI", 7)]


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("Search for React tutorials", KNOWLEDGE),
        ("Send a message to John on Telegram", MESSAGING),
        ("Run my daily report workflow", WORKFLOWS),
    ],
)
def test_the_examples_load_exactly_their_tools(message: str, names: set[str]) -> None:
    assert match_triggers(message) == names


@pytest.mark.parametrize(("row", "keyword"), [(row, keyword) for row in ROWS for keyword in row.keywords])
def test_every_keyword_loads_the_tools_of_its_row(row: Any, keyword: str) -> None:
    assert set(row.tools) <= match_triggers(f"Please: {keyword.upper()}!")


@pytest.mark.parametrize(
    ("message", "loads"),
    [
        *(("queries", True), ("memories", True), ("websites", True), ("custom tools", True), ("import  api", True)),
        *(("API SPECS", True), ("pager", False), ("selected", False), ("sqlite", False), ("tool, call", False), ("", False)),
        *(("re_search", False), ("importapi", False), ("Телеграм", False)),
    ],
)
def test_words_are_matched_whole_in_any_case_and_in_the_simple_plural(message: str, loads: bool) -> None:
    assert bool(match_triggers(message)) is loads


def test_an_email_loads_the_tool_for_it_besides() -> None:
    assert match_triggers("Write an email") == {*MESSAGING, "send_email"}


def test_several_rows_add_up() -> None:
    assert match_triggers("Find it, and send it") == KNOWLEDGE | MESSAGING


@given(st.text(max_size=200), st.text(max_size=200))
def test_more_words_load_no_fewer_tools(first: str, second: str) -> None:
    assert match_triggers(first) <= match_triggers(f"{first}\n{second}") <= TRIGGERED


def test_no_tool_of_the_core_waits_for_a_word() -> None:
    assert not CORE & TRIGGERED


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.pop("core"),
        lambda document: document["rows"][0].pop("keywords"),
        lambda document: document["rows"][0]["tools"].append("nothing"),
        lambda document: document["rows"][0]["keywords"].append("Browse"),
        lambda document: document["rows"][0]["further"].update(other=["recall"]),
        lambda document: document["core"].append("nothing"),
    ],
    ids=["no core", "no keywords", "unknown tool", "capitals", "further word", "unknown core"],
)
def test_a_table_that_breaks_a_rule_does_not_load(change: Callable[[Any], Any]) -> None:
    document = copy.deepcopy(DOCUMENT)
    change(document)
    with pytest.raises(MisconfiguredError, match=r"tool_triggers\.json"):
        read_triggers(document, LISTED)

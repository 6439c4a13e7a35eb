"""A descriptor that was changed in any way is held until a person accepts it; one that was not goes on."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.campaigns.drift import __main__ as command
from tests.campaigns.drift.cases import read_cases
from tests.campaigns.drift.pinned import PinnedServer

TOOL: dict[str, Any] = {
    "name": "search",
    "title": "Search",
    "description": "Searches the documents.",
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "The words."}, "limit": {"type": "integer", "maximum": 5}},
        "required": ["query"],
    },
    "annotations": {"readOnlyHint": True},
}
OTHER = {"name": "read", "description": "Reads one.", "inputSchema": {"type": "object"}}
ACCEPTED = PinnedServer(name="docs").list([TOOL, OTHER]).accept()
CONFUSABLES = {"a": "\u0430", "e": "\u0435", "o": "\u043e", "c": "\u0441", "s": "\u0455", "S": "\u0405", "T": "\u0422"}
HIDDEN = ("\u200b", "\u2060", "\u00ad", "\ufeff", "\U000e0041", "\u202e")

Place = tuple[str | int, ...]


def list_texts(value: Any, place: Place = ()) -> list[Place]:
    """Return the places of all texts in a descriptor."""
    if isinstance(value, dict):
        return [text for key, inner in value.items() for text in list_texts(inner, (*place, key))]
    if isinstance(value, list):
        return [text for at, inner in enumerate(value) for text in list_texts(inner, (*place, at))]
    return [place] if isinstance(value, str) else []


def change(place: Place, edit: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the tool with what is at a place edited."""
    tool = copy.deepcopy(TOOL)
    holder: Any = tool
    for step in place[:-1]:
        holder = holder[step]
    holder[place[-1]] = edit(holder[place[-1]])
    return tool


TEXTS = list_texts(TOOL)


def callable_after(tool: dict[str, Any]) -> set[str]:
    return ACCEPTED.list([tool, OTHER]).list_callable()


@given(place=st.sampled_from(TEXTS), at=st.integers(0, 100), hidden=st.sampled_from(HIDDEN))
def test_a_hidden_character_anywhere_holds_the_tool(place: Place, at: int, hidden: str) -> None:
    assert callable_after(change(place, lambda text: text[: at % (len(text) + 1)] + hidden + text[at % (len(text) + 1) :])) == {
        "read"
    }


@given(place=st.sampled_from(TEXTS), letter=st.sampled_from(sorted(CONFUSABLES)))
def test_a_confusable_letter_holds_the_tool(place: Place, letter: str) -> None:
    tool = change(place, lambda text: text.replace(letter, CONFUSABLES[letter], 1))
    assert callable_after(tool) == ({"search", "read"} if tool == TOOL else {"read"})


@given(place=st.sampled_from(TEXTS), text=st.text())
def test_any_other_text_holds_the_tool(place: Place, text: str) -> None:
    tool = change(place, lambda _: text)
    assert callable_after(tool) == ({"search", "read"} if tool == TOOL else {"read"})


@given(place=st.sampled_from(TEXTS))
def test_another_case_holds_the_tool(place: Place) -> None:
    assert callable_after(change(place, str.swapcase)) == {"read"}


@given(
    holder=st.sampled_from(
        [(), ("inputSchema",), ("inputSchema", "properties"), ("inputSchema", "properties", "query"), ("annotations",)]
    ),
    name=st.text(min_size=1).filter(lambda name: name not in json.dumps(TOOL)),
    value=st.recursive(st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(), st.lists, max_leaves=5),
)
def test_a_member_more_holds_the_tool(holder: Place, name: str, value: Any) -> None:
    tool = copy.deepcopy(TOOL)
    inner: Any = tool
    for step in holder:
        inner = inner[step]
    inner[name] = value
    assert callable_after(tool) == {"read"}


@pytest.mark.parametrize("name", [name for name in TOOL if name != "name"])
def test_a_member_less_holds_the_tool(name: str) -> None:
    assert callable_after({key: value for key, value in TOOL.items() if key != name}) == {"read"}


@pytest.mark.parametrize("name", ["Search", "search2", "\u0455earch", "search\u200b", "se-arch"])
def test_a_tool_of_another_name_is_not_the_one_that_was_accepted(name: str) -> None:
    assert callable_after({**TOOL, "name": name}) == {"read"}


@given(st.permutations(list(TOOL)), st.permutations(list(TOOL["inputSchema"]["properties"])))
def test_the_order_of_members_changes_nothing(members: list[str], properties: list[str]) -> None:
    tool = {name: TOOL[name] for name in members}
    ordered = {name: TOOL["inputSchema"]["properties"][name] for name in properties}
    tool["inputSchema"] = {**TOOL["inputSchema"], "properties": ordered}
    assert callable_after(tool) == {"search", "read"}


def test_the_order_of_tools_changes_nothing() -> None:
    assert ACCEPTED.list([OTHER, TOOL]).list_callable() == {"search", "read"}


def test_a_change_that_is_taken_back_goes_on_as_it_was_accepted() -> None:
    changed = ACCEPTED.list([{**TOOL, "description": "Else."}, OTHER])
    assert changed.list([TOOL, OTHER]).list_callable() == {"search", "read"}


def test_what_was_accepted_before_something_else_was_is_not_accepted_any_longer() -> None:
    later = ACCEPTED.list([{**TOOL, "description": "Else."}, OTHER]).accept()
    assert later.list([TOOL, OTHER]).list_callable() == {"read"}


REFINEMENTS = [
    f"{sentence} {note}"
    for sentence in (
        "Searches the documents.",
        "Searches all documents.",
        "Finds documents by words.",
        "Searches documents, fast.",
    )
    for note in (
        *("Results are ranked.", "At most five results.", "Answers JSON.", "Titles and dates are included.", "Sorted by date."),
        *(f"Version {number} of the index." for number in range(1, 46)),
    )
]


@pytest.mark.parametrize("description", REFINEMENTS)
def test_a_clearer_description_waits_for_a_person_like_any_other(description: str) -> None:
    after = ACCEPTED.list([{**TOOL, "description": description}, OTHER])
    assert (after.list_callable(), after.accept().list_callable()) == ({"read"}, {"search", "read"})


def _write_case(folder: Path, after: dict[str, Any], expected: str) -> None:
    folder.mkdir(parents=True)
    for name, tool in (("before", TOOL), ("after", after)):
        (folder / f"{name}.json").write_text(json.dumps({"result": {"tools": [tool]}}))
    files = "{before: before.json, after: after.json}"
    (folder / "case.yaml").write_text(f"id: one\ntitle: t\nexpected_verdict: {expected}\nfiles: {files}\n")


def test_the_command_prints_the_share(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _write_case(tmp_path / "a", {**TOOL, "description": "Else."}, "block")
    status = command.main(str(tmp_path))
    assert (status, capsys.readouterr().out.splitlines()[-1]) == (
        0,
        "1 of 1 quarantined until a person accepts (100%); the verdict that is due: 1",
    )


def test_a_folder_without_cases_is_an_error(tmp_path: Path) -> None:
    assert command.main(str(tmp_path)) == 2


def test_a_case_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "case.yaml").write_text("id: one\n")
    with pytest.raises(ValueError, match=f"{tmp_path} cannot be read as a case"):
        read_cases(tmp_path)

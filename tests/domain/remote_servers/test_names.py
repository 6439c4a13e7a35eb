"""Names of MCP servers' tools: two tools never become one, and those that look alike have something in common."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.problem import InvalidInputError
from ferryman.domain.remote_servers.lookalikes import Neighbours, find_name_refusals
from ferryman.domain.remote_servers.names import (
    build_tool_name,
    find_server_name_problem,
    fold_name,
    is_remote_name,
    split_name,
)
from ferryman.domain.remote_servers.server_names import check_server_name
from ferryman.domain.tools.names import is_tool_name

servers = st.from_regex(r"[a-z0-9]{1,8}([_-][a-z0-9]{1,7}){0,2}", fullmatch=True)
tools = st.text(string.ascii_letters + string.digits + "_.-/é", min_size=1, max_size=128)


@given(servers, tools)
def test_a_tool_has_a_name_that_models_may_use_and_that_leads_back_to_its_server(server: str, tool: str) -> None:
    name = build_tool_name(server, tool)
    assert is_tool_name(name)
    assert is_remote_name(name)
    assert split_name(name)[0] == server


@given(servers, tools, tools)
def test_two_tools_of_a_server_have_two_names(server: str, name: str, other: str) -> None:
    assert (build_tool_name(server, name) == build_tool_name(server, other)) == (name == other)


def test_a_plain_name_is_kept_and_another_ends_with_a_digest() -> None:
    assert build_tool_name("books", "search") == "books__search"
    assert re.fullmatch("books__search_all_[0-9a-f]{6}", build_tool_name("books", "search.all"))
    assert len(build_tool_name("books", "x" * 128)) == 64


@pytest.mark.parametrize(
    "name", ["", "Books", "a__b", "_a", "a_", "a-_b", "é", "a" * 25, "a b", "orchestrator", "0rchestrat0r"]
)
def test_no_server_has_such_a_name(name: str) -> None:
    assert find_server_name_problem(name) is not None


@pytest.mark.parametrize("name", ["a", "books", "my-books_2", "a" * 24])
def test_a_server_may_have_such_a_name(name: str) -> None:
    assert find_server_name_problem(name) is None


@pytest.mark.parametrize(
    ("name", "other"),
    [("send_mail", "sendMail"), ("pay", "PAY"), ("list", "l1st"), ("list", "1ist"), ("modern", "modem"), ("a.b", "a-b")],
)
def test_names_that_look_alike_have_the_same_fold(name: str, other: str) -> None:
    assert fold_name(name) == fold_name(other)


@pytest.mark.parametrize(("name", "other"), [("step_6", "step_8"), ("get", "set"), ("v1", "v2"), ("list_a", "list_b")])
def test_names_that_are_told_apart_have_two_folds(name: str, other: str) -> None:
    assert fold_name(name) != fold_name(other)


def test_a_second_server_needs_a_name_of_another_look() -> None:
    check_server_name("music", ["books"])
    with pytest.raises(InvalidInputError, match="name: looks like books, another MCP server of this agent"):
        check_server_name("b0oks", ["books"])


def test_two_tools_that_models_would_know_by_one_name_are_refused_but_one_that_was_accepted() -> None:
    mapped = build_tool_name("books", "a.b").removeprefix("books__")
    assert set(find_name_refusals(["a.b", mapped], Neighbours(server="books"))) == {"a.b", mapped}
    assert set(find_name_refusals(["a.b", mapped], Neighbours(server="books", accepted=["a.b"]))) == {mapped}
    assert set(find_name_refusals([mapped], Neighbours(server="books", accepted=["a.b"]))) == {mapped}

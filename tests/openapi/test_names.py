"""Names of imported tools: valid, and never those of the platform's own tools."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.declared.check import NAME
from ferryman.domain.remote_servers.names import is_remote_name
from ferryman.domain.tools.names import PREFIX, has_prefix
from ferryman.openapi.names import build_tool_name

parts = st.sampled_from([PREFIX, PREFIX.upper(), "Orchestrator__", "_", "-", ".", "9", "x", " ", "é"])


@pytest.mark.parametrize(
    ("operation_id", "name"),
    [
        (f"{PREFIX}http_get", "http_get"),
        (f"Orchestrator__{PREFIX}9x", "_9x"),
        (PREFIX, "orchestrator"),
        (f"x{PREFIX}", "xorchestrator"),
    ],
)
def test_the_prefix_of_the_platforms_own_tools_is_left_out(operation_id: str, name: str) -> None:
    assert build_tool_name(operation_id, "get", "/x") == name


@given(st.lists(parts, max_size=12).map("".join), st.lists(parts, max_size=4).map("".join))
def test_no_imported_name_has_the_prefix(operation_id: str, path: str) -> None:
    name = build_tool_name(operation_id, "get", f"/{path}")
    assert re.fullmatch(NAME, name)
    assert not has_prefix(name)
    assert not is_remote_name(name)


def test_of_underscores_in_a_row_one_is_left() -> None:
    assert build_tool_name("books__search___all", "get", "/x") == "books_search_all"

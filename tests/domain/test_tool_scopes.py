"""Tool scopes: a tool is covered by its name, with or without its prefix, or by its category, and by nothing else."""

from __future__ import annotations

import pytest

from ferryman.domain.workspaces.tool_scopes import covers_tool


@pytest.mark.parametrize(
    ("scopes", "is_covered"),
    [
        (None, True),
        ((), False),
        (("web_search_tool",), True),
        (("orchestrator__web_search_tool",), True),
        (("category:search",), True),
        (("category:files", "calculator"), False),
        (("search",), False),
        (("category:web_search_tool",), False),
        (("web_search",), False),
        (("WEB_SEARCH_TOOL",), False),
    ],
)
def test_a_tool_is_covered_by_its_name_or_its_category(scopes: tuple[str, ...] | None, is_covered: bool) -> None:
    assert covers_tool(scopes, "web_search_tool", "search") is is_covered


def test_a_tool_with_the_name_of_a_category_is_not_covered_by_that() -> None:
    assert not covers_tool(("category:search",), "search", "files")

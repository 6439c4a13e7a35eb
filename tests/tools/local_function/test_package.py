"""What holds for the package as a whole, whichever functions it has."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import ferryman
from ferryman.catalog import tools as catalog
from ferryman.catalog.tools import find_tool
from ferryman.composition import concierge, local_tools
from ferryman.tools.local_function.registry import TOOL_REGISTRY

LIBRARY = Path(ferryman.__file__).parent
KINDS = {"concierge": concierge.TOOLS, "local_function": local_tools.TOOLS}
TOOLS = {name: kind for kind, tools in KINDS.items() for name in tools}


def test_only_the_executor_calls_what_is_registered() -> None:
    readers = [
        file.relative_to(LIBRARY).as_posix()
        for file in LIBRARY.rglob("*.py")
        if any(isinstance(node, ast.Name) and node.id == "TOOL_REGISTRY" for node in ast.walk(ast.parse(file.read_text())))
    ]
    assert sorted(readers) == ["tools/local_function/execute.py", "tools/local_function/registry.py"]


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_each_tool_has_tests_of_an_answer_and_of_a_failure(name: str) -> None:
    tests = (Path(__file__).parents[1] / TOOLS[name] / f"test_{name}.py").read_text()
    assert "def test_the_tool_answers" in tests
    assert "def test_the_tool_says_what_is_wrong" in tests


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_the_catalog_says_the_limits_of_the_specification(name: str) -> None:
    policy = find_tool(name).policy
    assert (policy.timeout_s, policy.argument_characters_max, policy.argument_items_max) == (5.0, 1_000, 50)  # S2-31, 32, 35


def test_every_local_function_that_a_model_is_offered_can_be_called() -> None:
    offered = {name for name, tool in catalog.TOOLS.items() if tool.kind in KINDS}
    assert offered == set(TOOLS) == {name for name in TOOL_REGISTRY if find_tool(name).kind in KINDS}

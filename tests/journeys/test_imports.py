"""What a function imports before it answers first, and for its first call: nothing that its table does not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.imports import table

HEAVY = {"anthropic", "cattrs", "fastapi", "google.cloud.firestore", "google.cloud.tasks_v2", "grpc", "httpx", "jsonpath"}
HEAVY |= {"jsonschema", "opentelemetry", "pydantic", "rich"}


@pytest.mark.parametrize("function", table.FUNCTIONS)
async def test_a_function_imports_nothing_new(function: str, stack: Mapping[str, Any]) -> None:
    known, now = table.read_table(function), await table.measure(stack, function)
    newcomers = {"first": {*now.first} - {*known.first}, "more": {*now.more} - {*known.first, *known.more}}
    assert newcomers == {"first": set(), "more": set()}, "needed after all? python -m tests.imports"


@pytest.mark.parametrize("function", table.FUNCTIONS)
def test_what_takes_long_to_import_waits_until_after_the_first_answer(function: str) -> None:
    assert HEAVY & {*table.read_table(function).first} == set()


@pytest.mark.parametrize("function", ["api_call", "http_tool", "mcp_tool"])
def test_a_tool_function_imports_no_model(function: str) -> None:
    known = table.read_table(function)
    assert not {"anthropic", "fastapi", "jsonpath"} & {*known.first, *known.more}


def test_what_checks_declared_tools_is_imported_for_the_first_of_them() -> None:
    known = {name: {*table.read_table(name).more} for name in table.FUNCTIONS}
    assert {name for name in table.FUNCTIONS if "jsonschema" in known[name]} == {"http_tool", "mcp_tool"}


@pytest.mark.parametrize("function", table.FUNCTIONS)
def test_no_function_imports_what_prints_on_a_terminal(function: str) -> None:
    known = table.read_table(function)
    assert not {"rich", "pygments"} & {*known.first, *known.more}

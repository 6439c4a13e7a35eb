"""Clients of others at the fixtures: the SDK's in both eras, and the Inspector. `make mcp-conformance` installs them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from .application.serving import TOOLS
from .clients import ask_by_inspector, visit_by_sdk
from .installing import FOLDER, PYTHON, install_inspector
from .servers import Instance, serve_ours

NAMES = [tool.name for tool in TOOLS]
ANSWERS: dict[str, Any] = {
    "test_simple_text": {"text": "This is a simple text response for testing.", "is_error": False},
    "greet": {"text": "Hello, Ann!", "is_error": False},
    "test_custom_header": {"text": "Routed to Zürich", "is_error": False},
    "test_error_handling": {"text": "This tool intentionally returns an error for testing", "is_error": True},
    "unknown": {"code": -32602},
}

needs_sdk = pytest.mark.skipif(not PYTHON.exists(), reason="make mcp-conformance installs the SDK's client")
needs_inspector = pytest.mark.skipif(
    not (FOLDER / "inspector" / "installed.json").exists(), reason="make mcp-conformance installs the Inspector"
)


@pytest.fixture
async def ours() -> AsyncIterator[Instance]:
    async with serve_ours() as instance:
        yield instance


@needs_sdk
@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("2026-07-28", "2026-07-28"), ("legacy", "2025-11-25")])
async def test_the_client_of_the_sdk_lists_and_calls(ours: Instance, mode: str, version: str) -> None:
    seen = await visit_by_sdk(ours.url, mode)
    assert (seen["version"], seen["tools"], seen["progress"]) == (version, NAMES, [0, 50, 100])
    assert {name: seen["results"][name] for name in ANSWERS} == ANSWERS
    assert seen["results"]["test_elicitation"]["text"].startswith("User response: action=accept")


@needs_sdk
async def test_the_client_of_the_sdk_gives_input_that_a_call_requires(ours: Instance) -> None:
    seen = await visit_by_sdk(ours.url, "auto", calls=[["test_input_required_result_elicitation", {}]])
    assert seen["results"]["test_input_required_result_elicitation"]["text"] == "Hello, Bea!"


@needs_inspector
async def test_the_inspector_lists_calls_and_reads(ours: Instance) -> None:
    inspector = install_inspector()
    listed = await ask_by_inspector(inspector, ours.url, "--method", "tools/list")
    assert [tool["name"] for tool in listed["tools"]] == NAMES
    call = ("--method", "tools/call", "--tool-name", "greet", "--tool-arg", "name=Ann")
    assert (await ask_by_inspector(inspector, ours.url, *call))["content"] == [{"type": "text", "text": "Hello, Ann!"}]
    read = ("--method", "resources/read", "--uri", "test://static-text")
    (content,) = (await ask_by_inspector(inspector, ours.url, *read))["contents"]
    assert content["text"] == "This is the content of the static text resource."

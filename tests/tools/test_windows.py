"""A key holder decides what of a text under way may be shown: for the lease holder alone, with the task's own credentials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.conversations.window import WindowPart
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.executions.message import Block
from ferryman.domain.stale import StaleError
from ferryman.tools.execute_call import scan_window
from tests.tools.harness import KEY, ToolHarness

ABOUT = {"execution": "e", "task": "t", "epoch": 1}
LONG = "word " * 20


@pytest.fixture
def function() -> ToolHarness:
    return ToolHarness()


async def scan(function: ToolHarness, *texts: str, **about: Any) -> list[WindowPart]:
    async def redact(_: str, credentials: Iterable[Credential], content: Sequence[Block]) -> Sequence[Block]:
        values = {item.name: item.secret.reveal() for item in credentials}
        texts = [str(block["text"]) for block in content]
        for name, value in values.items():
            texts = [text.replace(value, f"[redacted:{name}]") for text in texts]
        return [{"type": "text", "text": text} for text in texts]

    return await scan_window(replace(function.deps(), redact_blocks=redact), **{**ABOUT, **about}, texts=texts)


async def test_as_much_is_held_back_as_its_longest_credential_asks_for(function: ToolHarness) -> None:
    (part,) = await scan(function, LONG)
    assert part == WindowPart(LONG[: -4 * len(KEY)], len(LONG) - 4 * len(KEY))


async def test_a_key_is_shown_by_its_name(function: ToolHarness) -> None:
    (part,) = await scan(function, f"it is {KEY}, {LONG}")
    assert part.text.startswith("it is [redacted:KEY], word")


async def test_a_task_without_credentials_holds_nothing_back(function: ToolHarness) -> None:
    function.memory.credentials["t"] = {}
    function.memory.versions["t"] = {}
    assert await scan(function, "one", "two") == [WindowPart("one", 3), WindowPart("two", 3)]


@pytest.mark.parametrize("about", [{"epoch": 2}, {"task": "other"}, {"execution": "other"}])
async def test_nobody_but_the_lease_holder_learns_anything(function: ToolHarness, about: dict[str, Any]) -> None:
    with pytest.raises((StaleError, KeyError)):
        await scan(function, LONG, **about)

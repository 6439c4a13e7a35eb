"""What the functions write, at DEBUG: lines of our own, and no word of any library."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ferryman.stack import environment
from tests.journeys.conftest import Journey, asks, call, says

HOST, CREDENTIAL = "lunarcrush.com", "LUNARCRUSH_API_KEY"


async def keyed(journey: Journey) -> str:
    """Return an execution with a call whose answer repeats its key, in its headers too."""
    await journey.admin.serve_routes(HOST, [{"path": journey.path, "echo": True, "headers": {"x-note": "as you like"}}])
    use = call("api_call", method="GET", url=journey.url(HOST), credential=CREDENTIAL)
    task = await journey.task(asks(use), says("Done."), tools=["api_call"], integrations=["lunarcrush"])
    await journey.credential(task, CREDENTIAL, "lunarcrush")
    return str((await journey.run(task))["execution_id"])


def read_lines(data: Path) -> list[str]:
    """Return every line of every function."""
    return [line for log in sorted((data / "logs").glob("*.log")) for line in log.read_text().splitlines()]


@pytest.mark.parametrize("row", environment.load_functions(), ids=lambda row: str(row["name"]))
def test_every_function_is_told_to_log_at_debug(row: Mapping[str, Any], stack: Mapping[str, Any]) -> None:
    around = environment.StackEnvironment(
        project=stack["project"],
        urls=stack["functions"],
        sealing_public_key="",
        receipt_public_keys={},
        decision_public_keys={},
        scripted_model_url="",
        caller=os.environ,  # as the stack was started
    )
    assert environment.build_environment(row, around)["FERRYMAN_LOG_LEVEL"] == "DEBUG"


async def test_every_line_of_a_call_is_one_of_ours(journey: Journey, stack: Mapping[str, Any]) -> None:
    execution = await keyed(journey)
    read = [json.loads(line) for line in read_lines(Path(stack["data"]))]
    assert all({"severity", "message"} <= line.keys() for line in read)
    (of_the_call,) = [line for line in read if line.get("execution") == execution and line["message"] == "call"]
    assert (of_the_call["credential"], of_the_call["status"]) == (CREDENTIAL, 200)

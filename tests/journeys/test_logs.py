"""What the functions write, at DEBUG: lines of our own, and no word of any library."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.journeys.conftest import Journey, asks, call, says

HOST, CREDENTIAL = "lunarcrush.com", "LUNARCRUSH_API_KEY"


async def keyed(journey: Journey) -> str:
    """An execution with a call whose answer repeats its key, in its headers too."""
    await journey.admin.serve_routes(HOST, [{"path": journey.path, "echo": True, "headers": {"x-note": "as you like"}}])
    use = call("api_call", method="GET", url=journey.url(HOST), credential=CREDENTIAL)
    task = await journey.task(asks(use), says("Done."), tools=["api_call"], integrations=["lunarcrush"])
    await journey.credential(task, CREDENTIAL, "lunarcrush")
    return str((await journey.run(task))["execution_id"])


def variables(process: int) -> list[bytes]:
    """The environment of a running process."""
    return Path(f"/proc/{process}/environ").read_bytes().split(b"\0")


def written(data: Path) -> list[str]:
    """Every line of every function."""
    return [line for log in sorted((data / "logs").glob("*.log")) for line in log.read_text().splitlines()]


async def test_every_function_is_told_to_log_at_debug(journey: Journey) -> None:
    running = [each for each in (await journey.admin.read_status())["functions"] if each["pid"]]
    assert [b"FERRYMAN_LOG_LEVEL=DEBUG" in variables(each["pid"]) for each in running] == [True] * 8


async def test_every_line_of_a_call_is_one_of_ours(journey: Journey, stack: Mapping[str, Any]) -> None:
    execution = await keyed(journey)
    read = [json.loads(line) for line in written(Path(stack["data"]))]
    assert all({"severity", "message"} <= each.keys() for each in read)
    (of_the_call,) = [each for each in read if each.get("execution") == execution and each["message"] == "call"]
    assert (of_the_call["credential"], of_the_call["status"]) == (CREDENTIAL, 200)

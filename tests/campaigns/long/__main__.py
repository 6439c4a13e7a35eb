"""A long run: `python -m tests.campaigns.long` runs 100 turns of 5 calls on the whole stack, on functions that get 3 seconds.

The last line reads `500 calls in 100 turns over N slices, the longest X s`; the exit code is 0 when each call reached its host
once and no delivery took longer than the limit, and 1 otherwise.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ferryman.stack.admin import Admin
from tests.stack import create_client, start_stack

TURNS, CALLS = 100, 5
LIMIT_S, SLICE_S = 3.0, 2.0
HOST = "api.coingecko.com"
LIFTED = {
    "like": "pro",
    "calls_per_execution": 1_000,
    "calls_per_minute": 1_000,
    "iterations": 1_000,
    "credits_per_execution": 50_000,
}


def main() -> int:
    variables = {"FERRYMAN_SLICE_S": str(SLICE_S), "FERRYMAN_PLANS": json.dumps({"pro": LIFTED})}
    with (
        tempfile.TemporaryDirectory(prefix="ferryman-long-") as folder,
        start_stack(Path(folder) / "data", **variables) as stack,
    ):
        record, received = asyncio.run(_run(stack))
        ran = [line["ran_s"] for line in _lines(Path(stack["data"])) if line["message"] == "delivery.ended"]
    wrong = []
    if (record["status"], record["output"]) != ("completed", "Done."):
        wrong.append(f"it ended as {record['status']}: {record['error']}")
    if sorted(received.values()) != [1] * TURNS * CALLS:
        wrong.append(f"{len(received)} of {TURNS * CALLS} calls reached their host, {sum(received.values())} times in all")
    if max(ran) > LIMIT_S:
        wrong.append(f"a delivery took longer than {LIMIT_S:g} s")
    for item in wrong:
        print(item)
    print(f"{TURNS * CALLS} calls in {TURNS} turns over {record['slice'] + 1} slices, the longest {max(ran):.2f} s")
    return 1 if wrong else 0


async def _run(stack: Mapping[str, Any]) -> tuple[dict[str, Any], Counter[str]]:
    """Return the record of the run, and how often each call's own path was asked for at the host."""
    async with Admin.from_note(stack) as admin, await create_client(stack) as client:
        await admin.serve_routes(
            HOST, [{"method": "*", "path": f"/{turn}/{call}", "json": {"ok": True}} for turn, call in _all()]
        )
        await admin.set_script("long", {"steps": [*(_turn(turn) for turn in range(TURNS)), {"text": "Done."}]})
        task = await client.create_task(
            {
                "name": "long",
                "task_prompt": "Go on.",
                "model": "scripted/long",
                "tools": ["http_get"],
                "integrations": ["coingecko"],
                "max_iterations": TURNS + 1,
                "max_credits": 50_000,
            }
        )
        execution = (await client.start_execution(task["task_id"]))["execution_id"]
        async for event in client.stream_events(execution):
            if event.kind == "turn" and event.body["iteration"] % 10 == 0:
                print(f"turn {event.body['iteration']} of {TURNS}", flush=True)
        return await client.get_execution(execution), Counter(request["path"] for request in await admin.list_requests(HOST))


def _all() -> list[tuple[int, int]]:
    return [(turn, call) for turn in range(TURNS) for call in range(CALLS)]


def _turn(turn: int) -> dict[str, Any]:
    calls = [{"name": "http_get", "input": {"url": f"https://{HOST}/{turn}/{call}"}} for call in range(CALLS)]
    return {"text": f"Turn {turn}.", "tool_calls": calls}


def _lines(data: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (data / "logs" / "orchestrator.log").read_text().splitlines()]


if __name__ == "__main__":
    raise SystemExit(main())

"""`make leaving`: 100 answers whose watchers leave, deaths of the API, the orchestrator and both, and 200 stops, by a seed.

Every function is frozen while it has no open request, as where instances are billed by request.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from bench.stack import LIFTED
from tests.campaigns.leaving.asking import DELAY_MS, HOST, PATH, TEXT, Chats, open_chats
from tests.campaigns.leaving.judging import find_faults
from tests.stack import start_stack

WRITES_S = len(TEXT.split()) * DELAY_MS / 1000
AT_ONCE = 4
BEGINS_S = 1.0
"""How long after a stop a call or a request to the model may begin."""

DEATHS = (("api",), ("orchestrator",), ("api", "orchestrator"))
SLOWLY = {"stream": {"delay_ms": DELAY_MS}}


async def leave(chats: Chats, moments: Sequence[float]) -> list[str]:
    """Leave answers after so many seconds each; return what is wrong with those that did not come in full."""
    limit, faults = asyncio.Semaphore(AT_ONCE), []

    async def leave_one(moment: float) -> None:
        async with limit:
            last = await chats.read_last(await chats.read_until(moment))
            if (last["type"], last.get("content")) != ("done", TEXT):
                faults.append(f"left after {moment:.2f} s: {last}")

    await asyncio.gather(*map(leave_one, moments))
    return faults


async def kill(chats: Chats, functions: Sequence[str], moment: float) -> list[str]:
    """Kill functions that many seconds after an answer has begun; return what is wrong with it."""
    begun: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def read() -> None:
        async for message in chats.ask():
            if not begun.done():
                begun.set_result(str(message["executionId"]))

    reading = asyncio.create_task(read())
    execution = await begun
    await asyncio.sleep(moment)
    for function in functions:
        await chats.admin.kill(function)
    await asyncio.gather(reading, return_exceptions=True)
    last = await chats.read_last(execution)
    is_right = (last["type"], last.get("content")) == ("done", TEXT)
    return [] if is_right else [f"{' and '.join(functions)} killed after {moment:.2f} s: {last}"]


async def stop(chats: Chats, moment: float) -> tuple[float, float, list[str]]:
    """Stop an answer that makes calls, that many seconds after it has begun.

    Return how many seconds later anything began, and how many later it had ended; and what is wrong with it and its record.
    """
    execution = await chats.read_until(moment)
    (await chats.http.post(f"/v1/executions/{execution}/cancel")).raise_for_status()
    stopped = datetime.now(UTC)
    last = await chats.read_last(execution)
    record = (await chats.http.get(f"/v1/executions/{execution}/record")).raise_for_status().json()
    sent = [call["sent_at"] for call in record["calls"] if call["sent_at"] is not None]
    latest = max((datetime.fromisoformat(moment) for moment in sent), default=stopped)
    requests = [item["at"] for item in await chats.admin.list_model_requests() if item["script"] == "leaving"]
    latest = max([latest, *map(datetime.fromisoformat, requests[-1:])])
    is_right = last["type"] == "done" and last.get("state") in ("stopped", "complete")
    faults = [] if is_right else [str(last)]
    faults += await find_faults(record)
    ended = datetime.fromisoformat(record["execution"]["completed_at"])
    return (
        (latest - stopped).total_seconds(),
        (ended - stopped).total_seconds(),
        [f"stopped after {moment:.2f} s: {fault}" for fault in faults],
    )


async def run(stack: Mapping[str, Any], *, leaves: int, deaths: int, stops: int, seed: int) -> int:
    """Run all trials; print what came of them, and return the exit code."""
    random, faults = Random(seed), []
    async with open_chats(stack, {"text": TEXT, **SLOWLY}) as chats:
        lost = await leave(chats, [random.uniform(0, WRITES_S * 1.2) for _ in range(leaves)])
        print(f"left amid their stream: {leaves - len(lost)} of {leaves} answers came in full", flush=True)
        for functions in DEATHS:
            failed = [fault for _ in range(deaths) for fault in await kill(chats, functions, random.uniform(0, WRITES_S))]
            print(f"killed {' and '.join(functions)}: {deaths - len(failed)} of {deaths} answers came in full", flush=True)
            lost += failed
        faults += lost
    calls = [{"name": "http_get", "input": {"url": f"https://{HOST}{PATH}?n={number}"}} for number in range(2)]
    steps = [{"text": "I look once more.", "tool_calls": calls, **SLOWLY} for _ in range(7)]
    later, ends, wrong = [0.0], [0.0], 0
    async with open_chats(stack, *steps, {"text": TEXT, **SLOWLY}, tools=["http_get"]) as chats:
        for _ in range(stops):
            seconds, ends_s, failed = await stop(chats, random.uniform(0, 3.0))
            later.append(seconds)
            ends.append(ends_s)
            wrong += bool(failed)
            faults += failed
    high, end = (sorted(values)[int(0.99 * (len(values) - 1))] for values in (later, ends))
    print(f"stopped: the last request or call began {high:.3f} s after the stop (p99 of {stops}), at most {max(later):.3f} s")
    print(f"stopped: the answer had ended {end:.3f} s after the stop (p99), {max(ends):.3f} s at most")
    print(f"stopped: {stops - wrong} of {stops} keep what was written, replay to the byte and are charged once")
    for fault in faults:
        print(fault)
    return int(bool(faults) or high > BEGINS_S)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leaves", type=int, default=100)
    parser.add_argument("--deaths", type=int, default=5)
    parser.add_argument("--stops", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = vars(parser.parse_args())
    variables = {"LOCAL_CLOUD_FREEZE": "1", "FERRYMAN_PLANS": json.dumps({"pro": LIFTED})}
    with (
        tempfile.TemporaryDirectory(prefix="ferryman-leaving-") as folder,
        start_stack(Path(folder) / "data", **variables) as stack,
    ):
        sys.exit(asyncio.run(run(stack, **options)))


if __name__ == "__main__":
    main()

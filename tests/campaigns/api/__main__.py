"""`make fuzz-api`: schemathesis over the whole OpenAPI document, all checks, against the API of a local stack.

    python -m tests.campaigns.api [--cases N] [--seed S]

The generator runs in an environment of its own (build/fuzz-api/venv); `hooks.py` gives it the names of what is really there.
The last line counts the cases; the exit code is 1 where an answer was a 5xx, had a status or a body that the document does not
describe, or was an error without a problem, and where fewer than N cases were sent.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from ferryman.client import Client
from tests.stack import create_client, start_stack

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[2]
BUILD = ROOT / "build" / "fuzz-api"
OWNERS = 12
"""Owners whose things are options for in turn: each may import once in six seconds, and ask for so much at once."""

LIFTED = {"like": "pro", "executions_running": 100, "executions_queued": 1_000, "schedule_minutes": 5}
TASK = {
    "name": "fuzzed",
    "task_prompt": "Say hello.",
    "model": "scripted/hello",
    "tools": ["http_get", "api_call"],
    "integrations": ["coingecko"],
}
NAMES = {"integration_id": ["coingecko"], "credential": ["COINGECKO_API_KEY", "FUZZED"], "cluster": ["fuzzed"]}
HANGS_S = 600
"""Only an API that hangs takes so long: what a slow machine answers is judged as on a fast one (schemathesis.toml, too)."""

CREDENTIAL = {"value": "abcdefgh12345678ZYXWVUTS", "service": "coingecko"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="make fuzz-api", description="schemathesis over the whole OpenAPI document")
    parser.add_argument("--cases", type=int, default=20_000, help="how many cases, at least")
    parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same cases")
    options = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="ferryman-fuzz-api-") as folder,
        start_stack(Path(folder) / "data", FERRYMAN_PLANS=json.dumps({"pro": LIFTED})) as stack,
    ):
        pools = asyncio.run(_prepare(stack))
        document = httpx.get(f"{stack['url']}/openapi.json", trust_env=False, timeout=HANGS_S).raise_for_status().json()
        report = BUILD / "report.ndjson"
        failed = _generate(stack["url"], pools, options.seed, _count_for_each(options.cases, document), report)
        crashes = _crashes(Path(stack["data"]))
    statuses = _count(report)
    for crash in crashes:
        print(crash)
    cases = sum(statuses.values())
    print(" · ".join(f"{status}: {number}" for status, number in sorted(statuses.items())))
    print(f"{cases} cases: {'failed' if failed else 'none broke the document'}, {len(crashes)} crashes")
    return 1 if failed or crashes or cases < options.cases else 0


def _count_for_each(cases: int, document: Mapping[str, Any]) -> int:
    """Return how many cases each operation takes so that all of them come to `cases`, those with few to vary aside."""
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    varied = [operation for operation in operations if "parameters" in operation or "requestBody" in operation]
    # some run out of different cases
    return max(1, cases * 11 // 10 // max(1, len(varied)) + 1)


async def _prepare(stack: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the API keys of some owners, each with the names of things that it has."""
    pools = []
    for _ in range(OWNERS):
        async with await create_client(stack) as client:
            pools.append(await _fill(client))
    return pools


async def _fill(client: Client) -> dict[str, Any]:
    tasks = [(await client.create_task(TASK))["task_id"] for _ in range(2)]
    mortal = [(await client.create_task(TASK))["task_id"] for _ in range(5)]
    for task in tasks:
        await client.set_credential(task, "COINGECKO_API_KEY", CREDENTIAL)
    execution = (await client.start_execution(tasks[0]))["execution_id"]
    async for _ in client.stream_events(execution):
        pass
    standing = [
        (await client.create_standing_approval("http_post", uses=5, expires_in_days=7))["standing_approval_id"]
        for _ in range(5)
    ]
    key = client._http.headers["Authorization"]
    names = {"task_id": tasks, "mortal": mortal, "execution_id": [execution], "standing_approval_id": standing}
    return {"authorization": key, **names, **NAMES}


def _generate(url: str, pools: list[dict[str, Any]], seed: int, share: int, report: Path) -> bool:
    """Run schemathesis; return whether it found anything."""
    command = [
        *(BUILD / "venv/bin/schemathesis", f"--config-file={FOLDER / 'schemathesis.toml'}", "run", f"{url}/openapi.json"),
        *("--checks=all", f"--seed={seed}", f"--max-examples={share}", "--generation-database=none", "--workers=2"),
        "--continue-on-failure",
        "--generation-with-security-parameters=false",
        *("--report=ndjson", f"--report-ndjson-path={report}", "--no-color"),
    ]
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "SCHEMATHESIS_HOOKS": "hooks",
        "PYTHONPATH": str(FOLDER),
        "FERRYMAN_POOLS": json.dumps(pools),
        "NO_PROXY": "*",
    }
    return subprocess.run(command, env=environment, cwd=BUILD, check=False).returncode != 0


def _count(report: Path) -> Counter[int]:
    """Return how many cases were answered with each status."""
    statuses: Counter[int] = Counter()
    with report.open() as lines:
        for line in lines:
            scenario = json.loads(line).get("ScenarioFinished") or {}
            for interaction in scenario.get("recorder", {}).get("interactions", {}).values():
                statuses[(interaction.get("response") or {}).get("status_code", 0)] += 1
    return statuses


def _crashes(data: Path) -> list[str]:
    """Return the lines that the API logged of crashes."""
    lines = [line for path in data.rglob("api*.log") for line in path.read_text(errors="replace").splitlines()]
    return [line for line in lines if '"api.crash"' in line or '"function.fault"' in line]


if __name__ == "__main__":
    raise SystemExit(main())

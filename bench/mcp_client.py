"""Calls of a tool of an MCP server beside calls of a declared tool, of the same size: processor time of the two functions.

Both are called by executions of a scripted model on one local stack, in turn, in one run. Both send a text of `TEXT_BYTES` as
JSON to the same upstream, with one credential, and get the text back as JSON.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import statistics
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from bench import Row, show
from bench.tool import describe_load, measure_cpu_s
from ferryman.domain.owners.owner import Owner
from ferryman.gcp.owners import FirestoreOwners
from ferryman.serving import keys
from tests.campaigns.hostile.harness import Harness, new_key, start_harness
from tests.campaigns.hostile.mcp_peer import McpPeer
from tests.campaigns.hostile.scenario import BEARER, Answer, call, call_tools, finish

CALLS, ROUNDS = 8, 8
BAR = 1.3
TEXT_BYTES = 1_000
TEXT = "a sentence of twenty. " * (TEXT_BYTES // 22)
FUNCTIONS = {"http": "http_tool", "mcp": "mcp_tool"}
POLL_S = 0.2
UNENDED = ("queued", "pending", "running", "waiting")
PEER = McpPeer(results=({"content": [{"type": "text", "text": TEXT}]},))
DECLARED = {
    "kind": "http",
    "name": "say",
    "description": "Answers the text that it is given.",
    "method": "POST",
    "url": f"https://{BEARER}/bench/say",
    "headers": {"Authorization": "Bearer {{secrets.LUNARCRUSH_API_KEY}}"},
    "parameters": {"text": {"type": "string"}},
    "body": {"text": "{{text}}"},
}


class Bench:
    """Two tasks of one owner on a stack: one calls a declared tool, the other a tool of an MCP server."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness
        self.key = keys.generate_key()
        self.tasks: dict[str, str] = {}

    async def prepare(self) -> None:
        """Make the owner, the hosts, the agent with its server, and the tasks."""
        now = datetime.now(UTC)
        owners = FirestoreOwners(self.harness.clients)
        await owners.put(Owner(id="bench", plan="pro", created_at=now))
        await owners.add_key(keys.digest_key(self.key), "bench", now)
        self.harness.upstream.answers["bench"] = {
            "/rpc": Answer(peer=PEER.enter({})),
            "/say": Answer(body='{"content": "' + TEXT + '"}'),
            "": Answer(status=404),
        }
        await self.harness.map_host("bench.peer.example", ())
        agent = (await self.ask("POST", "/v1/agents", {"name": "bench"}))["agent_id"]
        auth = {"type": "bearer", "token": new_key()}
        body = {"name": "peer", "url": "https://bench.peer.example/bench/rpc", "auth": auth}
        server = await self.ask("POST", f"/v1/agents/{agent}/mcp", body)
        place = f"/v1/agents/{agent}/mcp/{server['server_id']}"
        (tool,) = (await self.ask("GET", f"{place}/tools"))["data"]
        await self.ask("POST", f"{place}/accept", {"digests": {"echo": tool["digest"]}})
        for kind, name in (("http", "say"), ("mcp", "peer__echo")):
            uses = [call(name, text=f"{number} {secrets.token_hex(4)} {TEXT}") for number in range(CALLS)]
            turns = [*(call_tools(use) for use in uses), finish()]
            await self.harness.admin.set_script(f"bench-{kind}", {"steps": turns})
            task = {
                "name": kind,
                "task_prompt": "Do it.",
                "model": f"scripted/bench-{kind}",
                "approvals": [{"mode": "never"}],
                "integrations": ["lunarcrush"],
                "tools": [DECLARED] if kind == "http" else ["http_get"],
                "max_credits": 500,
                **({"agent_id": agent} if kind == "mcp" else {}),
            }
            self.tasks[kind] = (await self.ask("POST", "/v1/tasks", task))["task_id"]
        path = f"/v1/tasks/{self.tasks['http']}/credentials/LUNARCRUSH_API_KEY"
        await self.ask("PUT", path, {"value": new_key(), "service": "lunarcrush"})

    async def measure(self, kind: str) -> float:
        """Return the milliseconds of processor time of the function for a call. Raise RuntimeError unless all were made."""
        functions = {row["name"]: row for row in (await self.harness.admin.read_status())["functions"]}
        process = functions[FUNCTIONS[kind]]["pid"]
        before = measure_cpu_s(process)
        name = (await self.ask("POST", f"/v1/tasks/{self.tasks[kind]}/executions", {}))["execution_id"]
        while (record := await self.ask("GET", f"/v1/executions/{name}"))["status"] in UNENDED:  # noqa: ASYNC110 - another process ends it
            await asyncio.sleep(POLL_S)
        spent_ms = (measure_cpu_s(process) - before) * 1000
        calls = (await self.ask("GET", f"/v1/executions/{name}/calls"))["calls"]
        sent = sum(bool((entry["result"] or {}).get("response_status") == 200) for entry in calls)
        if record["status"] != "completed" or sent != CALLS:
            codes = [(entry["result"] or {}).get("code") for entry in calls]
            raise RuntimeError(f"{kind}: {record['status']}, {sent} of {CALLS} calls: {codes}")
        return spent_ms / CALLS

    async def ask(self, method: str, path: str, body: Any = None) -> Mapping[str, Any]:
        """Return what the API answers the owner. Raise RuntimeError where it refuses."""
        headers = {"Authorization": f"Bearer {self.key}"}
        answer = await self.harness.http.request(method, self.harness.url + path, json=body, headers=headers)
        if not answer.is_success:
            raise RuntimeError(f"{method} {path} was answered {answer.status_code}: {answer.text[:300]}")
        result: Mapping[str, Any] = answer.json()
        return result


async def compare() -> dict[str, float]:
    """Return the milliseconds of processor time of a call, the median of the rounds, by kind of tool."""
    spent: dict[str, list[float]] = {kind: [] for kind in FUNCTIONS}
    async with start_harness() as harness:
        bench = Bench(harness)
        await bench.prepare()
        for number in range(ROUNDS + 1):
            for kind, figures in spent.items():
                figure = await bench.measure(kind)
                if number:  # the first one warms up
                    figures.append(figure)
            print(f"round {number} of {ROUNDS}", file=sys.stderr, flush=True)
    return {kind: statistics.median(figures) for kind, figures in spent.items()}


def rows() -> Iterator[Row]:
    """Measure, and yield the row."""
    spent = asyncio.run(compare())
    ratio = spent["mcp"] / spent["http"]
    measured = f"{ratio:.2f} × ({spent['mcp']:.1f} ms against {spent['http']:.1f} ms)"
    what = f"a call of {TEXT_BYTES:,} bytes of a tool of an MCP server, processor time beside one of a declared tool"
    yield Row(
        what, f"≤ {BAR} ×", measured, ratio <= BAR, f"{CALLS} calls an execution, {describe_load()}, {os.cpu_count()} cores"
    )


if __name__ == "__main__":
    sys.exit(show(rows()))

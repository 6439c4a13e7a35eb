"""The play: each tenant's executions started at once, and what may not have crossed from one to another."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ferryman.client import Client
from ferryman.stack.admin import Admin
from tests.campaigns.tenants.upstream import HOSTS, Upstream
from tests.canaries import canary
from tests.canaries.search import Place, build_patterns, search
from tests.canaries.stack import gather

SERVICE, NAME = "linear", "LINEAR_API_KEY"
EXECUTION = re.compile(rb"exec_[0-9a-f]+")


@dataclass(kw_only=True)
class Tenant:
    """An owner with one task. `marks` are words that nobody else has any business to see."""

    name: str
    client: Client
    key: str
    prompt: str
    answer: str
    cookie: str
    said: str
    task: str = ""
    executions: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)

    @property
    def marks(self) -> list[str]:
        return [self.key, self.prompt, self.answer, self.cookie, self.said, self.name, self.task, *self.executions]


def tenant(client: Client, number: int) -> Tenant:
    """A tenant of new words, its key among those that the whole run is searched for."""
    words = {name: f"{name}{secrets.token_hex(10)}" for name in ("prompt", "answer", "cookie", "said")}
    name = f"tenant{secrets.token_hex(8)}"
    return Tenant(name=name, client=client, key=canary.create_key(f"tenant {number} {name}"), **words)


async def prepare(each: Tenant, admin: Admin, upstream: Upstream) -> None:
    """The tenant's task: two calls a turn, one with its key, to two names at one address; then one more, and the end."""
    upstream.answers[each.name], upstream.cookies[each.name] = each.answer, each.cookie

    def calls(turn: int) -> list[dict[str, Any]]:
        keyed = {
            "method": "POST",
            "url": f"https://{HOSTS[0]}/{each.name}/{turn}",
            "credential": NAME,
            "body": {"q": each.said},
        }
        plain = {"url": f"https://{HOSTS[1]}/{each.name}/{turn}", "query_params": {"q": each.said}}
        return [{"name": "api_call", "input": keyed}, {"name": "http_get", "input": plain}]

    expect = {"last_contains": [each.answer]}
    steps = [
        {"text": each.said, "tool_calls": calls(1)},
        {"text": each.said, "tool_calls": calls(2), "expect": expect},
        {"text": f"Done, {each.said}.", "expect": expect},
    ]
    await admin.set_script(each.name, {"steps": steps})
    fields = {"tools": ["api_call", "http_get"], "integrations": [SERVICE, "todoist"], "model": f"scripted/{each.name}"}
    made = await each.client.create_task({"name": each.name, "task_prompt": f"Do {each.prompt}.", **fields})
    each.task = made["task_id"]
    await each.client.set_credential(each.task, NAME, {"value": each.key, "service": SERVICE})


async def play(tenants: Sequence[Tenant], executions: int) -> None:
    """So many executions of every tenant at once, each watched to its end. Raises AssertionError when one did not complete."""
    runs = [_run(each) for _ in range(executions) for each in tenants]
    await asyncio.gather(*runs)


async def _run(each: Tenant) -> None:
    execution = (await each.client.start_execution(each.task, each.prompt))["execution_id"]
    each.executions.append(execution)
    each.heard += [json.dumps([event.kind, dict(event.body)]) async for event in each.client.stream_events(execution)]
    record = await each.client.get_execution(execution)
    assert record["status"] == "completed", record["error"]
    each.heard += [json.dumps(record), json.dumps(await each.client.list_calls(execution))]


async def crossings(tenants: Sequence[Tenant], stack: Mapping[str, Any], upstream: Upstream) -> list[str]:
    """What of one tenant stands in something of another, and which connections two of them shared; empty when all is well."""
    things = [(owner, place) async for owner, place in _things(tenants, stack, upstream)]
    found = list(_shared(upstream))
    for each in tenants:
        own = [place for owner, place in things if owner is each]
        foreign = [
            canary.Canary(f"something of {other.name}", mark, mark)
            for other in tenants
            if other is not each
            for mark in other.marks
        ]
        found += [f"{finding} of {each.name}" for finding in search(own, build_patterns(foreign))]
        found += [f"nothing of {kind} belongs to {each.name}: nothing was looked at" for kind in _unseen(own)]
        for request in (seen for seen in upstream.seen if seen.tenant == each.name):
            if b"\r\ncookie:" in request.content.lower():
                found.append(f"a cookie came to the upstream from {each.name}")
    return found


KINDS = ("upstream", "heard", "records", "prompts", "deliveries", "log")


def _unseen(own: Iterable[Place]) -> list[str]:
    seen = {place.name.partition(":")[0] for place in own}
    return [kind for kind in KINDS if kind not in seen]


def _shared(upstream: Upstream) -> Iterator[str]:
    owners: dict[int, set[str]] = {}
    for each in upstream.seen:
        owners.setdefault(each.connection, set()).add(each.tenant)
    for number, names in owners.items():
        if len(names) > 1:
            yield f"connection {number} carried requests of {len(names)} owners"


async def _things(tenants: Sequence[Tenant], stack: Mapping[str, Any], upstream: Upstream) -> Any:
    """Everything that is of exactly one tenant, with whose it is."""
    by_execution = {execution.encode(): each for each in tenants for execution in each.executions}
    by_name = {each.name: each for each in tenants}
    for number, seen in enumerate(upstream.seen):
        yield by_name[seen.tenant], Place(f"upstream: request {number}", seen.content)
    for each in tenants:
        yield each, Place("heard: events and records", "\n".join(each.heard).encode())
    for kind, places in (await gather(stack)).items():
        for place in places:
            content = place.read()
            whose = next((by_execution[found] for found in EXECUTION.findall(content) if found in by_execution), None)
            words = {each.name: (each.name if kind == "prompts" else each.task).encode() for each in tenants}
            whose = whose or next((each for each in tenants if words[each.name] in content), None)
            if whose is not None:
                yield whose, Place(f"{kind}: {place.name}", content)
    for log in sorted((Path(stack["data"]) / "logs").glob("*.log")):
        for number, line in enumerate(log.read_bytes().splitlines()):
            for execution in EXECUTION.findall(line):
                if execution in by_execution:
                    yield by_execution[execution], Place(f"log: {log.name} line {number}", line)

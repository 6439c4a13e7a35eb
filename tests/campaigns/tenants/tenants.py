"""Tenants: owners whose executions start at once, and the search for what crossed from one to another."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from ferryman.client import ApiRateLimitedError, AsyncClient
from ferryman.stack.admin import Admin
from tests.campaigns.tenants.conversations import CONVERSATION, find_conversation_faults
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
    client: AsyncClient
    key: str
    prompt: str
    answer: str
    cookie: str
    phrase: str
    task: str = ""
    executions: list[str] = field(default_factory=list)
    credits_used: Decimal = Decimal(0)
    """What the records of its executions say."""
    heard: list[str] = field(default_factory=list)

    @property
    def marks(self) -> list[str]:
        return [self.key, self.prompt, self.answer, self.cookie, self.phrase, self.name, self.task, *self.executions]


def create_tenant(client: AsyncClient, number: int) -> Tenant:
    """Return a tenant with new words and a new key, which is among those that the whole run is searched for."""
    words = {name: f"{name}{secrets.token_hex(10)}" for name in ("prompt", "answer", "cookie", "phrase")}
    name = f"tenant{secrets.token_hex(8)}"
    return Tenant(name=name, client=client, key=canary.create_key(f"tenant {number} {name}"), **words)


async def prepare(tenant: Tenant, admin: Admin, upstream: Upstream) -> None:
    """Create the tenant's task: two calls a turn, one with its key, to two names at one address; then one more, and the end."""
    upstream.answers[tenant.name], upstream.cookies[tenant.name] = tenant.answer, tenant.cookie

    def calls(turn: int) -> list[dict[str, Any]]:
        keyed = {
            "method": "POST",
            "url": f"https://{HOSTS[0]}/{tenant.name}/{turn}",
            "credential": NAME,
            "body": {"q": tenant.phrase},
        }
        plain = {"url": f"https://{HOSTS[1]}/{tenant.name}/{turn}", "query_params": {"q": tenant.phrase}}
        return [{"name": "api_call", "input": keyed}, {"name": "http_get", "input": plain}]

    expect = {"last_contains": [tenant.answer]}
    steps = [
        {"text": tenant.phrase, "tool_calls": calls(1)},
        {"text": tenant.phrase, "tool_calls": calls(2), "expect": expect},
        {"text": f"Done, {tenant.phrase}.", "expect": expect},
    ]
    await admin.set_script(tenant.name, {"steps": steps})
    fields: dict[str, Any] = {
        "tools": ["api_call", "http_get"],
        "integrations": [SERVICE, "todoist"],
        "model": f"scripted/{tenant.name}",
    }
    fields["approvals"] = [{"mode": "never"}]  # nobody is there to decide
    created = await tenant.client.create_task({"name": tenant.name, "task_prompt": f"Do {tenant.prompt}.", **fields})
    tenant.task = created["task_id"]
    await tenant.client.set_credential(tenant.task, NAME, {"value": tenant.key, "service": SERVICE})


async def run_executions(tenants: Sequence[Tenant], executions: int) -> None:
    """Run executions of every tenant at once, each watched to its end. Raise a group with AssertionError if one did not
    complete."""
    async with asyncio.TaskGroup() as group:
        for _ in range(executions):
            for tenant in tenants:
                group.create_task(_run(tenant))


async def _run(tenant: Tenant) -> None:
    execution = await _start(tenant)
    tenant.executions.append(execution)
    tenant.heard += [json.dumps([event.kind, dict(event.body)]) async for event in tenant.client.stream_events(execution)]
    record = await tenant.client.get_execution(execution)
    assert record["status"] == "completed", record["error"]
    tenant.credits_used += Decimal(record["credits_used"])
    tenant.heard += [json.dumps(record), json.dumps(await tenant.client.list_calls(execution))]


async def _start(tenant: Tenant) -> str:
    """Start an execution in the conversation of every tenant, and again later where the tenant asks too often for now."""
    while True:
        try:
            started = await tenant.client.start_execution(tenant.task, tenant.prompt, conversation=CONVERSATION)
        except ApiRateLimitedError as error:
            await asyncio.sleep(error.after_s or 1)
        else:
            return str(started["execution_id"])


async def find_crossed(tenants: Sequence[Tenant], stack: Mapping[str, Any], upstream: Upstream) -> list[str]:
    """Return what of one tenant is in something of another, and the connections that two of them shared."""
    things = [(owner, place) async for owner, place in _things(tenants, stack, upstream)]
    findings = list(_shared(upstream))
    for tenant in tenants:
        own_places = [place for owner, place in things if owner is tenant]
        foreign = [
            canary.Canary(f"something of {other.name}", mark, mark)
            for other in tenants
            if other is not tenant
            for mark in other.marks
        ]
        findings += [f"{finding} of {tenant.name}" for finding in search(own_places, build_patterns(foreign))]
        findings += await find_conversation_faults(tenant.client, tenant.credits_used)
        findings += [f"nothing of {kind} belongs to {tenant.name}: nothing was looked at" for kind in _unseen(own_places)]
        for request in (seen for seen in upstream.seen if seen.tenant == tenant.name):
            if b"\r\ncookie:" in request.content.lower():
                findings.append(f"a cookie came to the upstream from {tenant.name}")
    return findings


KINDS = ("upstream", "heard", "records", "prompts", "deliveries", "log")


def _unseen(own_places: Iterable[Place]) -> list[str]:
    seen = {place.name.partition(":")[0] for place in own_places}
    return [kind for kind in KINDS if kind not in seen]


def _shared(upstream: Upstream) -> Iterator[str]:
    owners: dict[int, set[str]] = {}
    for request in upstream.seen:
        owners.setdefault(request.connection, set()).add(request.tenant)
    for number, names in owners.items():
        if len(names) > 1:
            yield f"connection {number} carried requests of {len(names)} owners"


async def _things(tenants: Sequence[Tenant], stack: Mapping[str, Any], upstream: Upstream) -> Any:
    """Yield everything that belongs to exactly one tenant, with that tenant."""
    by_execution = {execution.encode(): tenant for tenant in tenants for execution in tenant.executions}
    by_name = {tenant.name: tenant for tenant in tenants}
    for number, seen in enumerate(upstream.seen):
        yield by_name[seen.tenant], Place(f"upstream: request {number}", seen.content)
    for tenant in tenants:
        yield tenant, Place("heard: events and records", "\n".join(tenant.heard).encode())
    for kind, places in (await gather(stack)).items():
        for place in places:
            content = place.read()
            whose = next((by_execution[name] for name in EXECUTION.findall(content) if name in by_execution), None)
            words = {tenant.name: (tenant.name if kind == "prompts" else tenant.task).encode() for tenant in tenants}
            whose = whose or next((tenant for tenant in tenants if words[tenant.name] in content), None)
            if whose is not None:
                yield whose, Place(f"{kind}: {place.name}", content)
    for log in sorted((Path(stack["data"]) / "logs").glob("*.log")):
        for number, line in enumerate(log.read_bytes().splitlines()):
            for execution in EXECUTION.findall(line):
                if execution in by_execution:
                    yield by_execution[execution], Place(f"log: {log.name} line {number}", line)

"""A call of an MCP client: from the request to the end of its execution, which asks no model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx

from bench.operations.counting import Counts
from bench.operations.model import CREDENTIAL, HOST, CountingModel
from bench.operations.services import API, TRIGGER
from bench.operations.system import INVOKED, TASK, CountedSystem, store_credential
from ferryman.domain.mcp_revisions import CLIENT_CAPABILITIES, MODERN, PROTOCOL_VERSION, TASKS
from ferryman.serving import api as api_app

CALL = {"method": "GET", "url": f"https://{HOST}/answer", "credential": CREDENTIAL}


async def count_direct_call(system: CountedSystem) -> Counts:
    """Return what the second call of an agent's tool over /mcp asks for: the first one makes the agent's chat task.

    The client declares tasks: nobody waits, and what a client that waits costs is a watcher's.
    """
    app = api_app.create(replace(system.deps, answer_wait_s=0.0))
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://api.test", headers=system.client.headers) as client:
        begun = await system.client.post("/v1/conversations", json={})
        assert begun.is_success, begun.text
        task = begun.json()["task_id"]
        fields = {name: TASK[name] for name in ("tools", "integrations")}
        assert (await system.client.patch(f"/v1/tasks/{task}", json=fields)).is_success
        await store_credential(system.client, task)
        for _ in range(2):
            before = system.snapshot("")
            execution = await _call(client)
            system.counts[API, INVOKED] += 1
            await system.trigger.queue.enqueue(execution, slice=0)
            system.counts[TRIGGER, INVOKED] += 1
            await system.deliver(execution, CountingModel(1, 1, lambda: system.counts))
            after = system.snapshot(execution)
    after.subtract(before)
    return +after


async def _call(client: httpx.AsyncClient) -> str:
    """Call the tool, and return the id of the execution that it is."""
    meta = {PROTOCOL_VERSION: MODERN, CLIENT_CAPABILITIES: {"extensions": {TASKS: {}}}}
    params: dict[str, Any] = {"name": "api_call", "arguments": CALL, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "api_call"}
    answer = await client.post("/mcp", json=message, headers={**headers, "Accept": "application/json, text/event-stream"})
    return str(answer.json()["result"]["taskId"])

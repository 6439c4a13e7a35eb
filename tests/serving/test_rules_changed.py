"""Rules of approvals in a change, whose fields may be left out: of a task, an agent and a workspace."""

from __future__ import annotations

import httpx
import pytest

LEFT_OUT = {"mode": "never"}
WHOLE = {"mode": "never", "tools": [], "hosts": [], "methods": [], "amount": None}


@pytest.mark.parametrize("kind", ["task", "agent", "workspace"])
async def test_a_rule_of_a_change_may_leave_out_all_but_its_mode(client: httpx.AsyncClient, task: str, kind: str) -> None:
    agent = (await client.post("/v1/agents", json={"name": "Ada"})).json()["agent_id"]
    workspace = (await client.post("/v1/workspaces", json={"name": "Kitchen"})).json()["workspace_id"]
    path = {"task": f"/v1/tasks/{task}", "agent": f"/v1/agents/{agent}", "workspace": f"/v1/workspaces/{workspace}"}[kind]
    answer = await client.patch(path, json={"approvals": [LEFT_OUT]})
    assert (answer.status_code, answer.json()["approvals"]) == (200, [WHOLE])

"""The documents of an owner as the version before workspaces stored them: a task, its executions, and what they have used."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from ferryman.gcp.clients import GoogleClients
from tests.contracts.values import LEASE, NOW

TASK = {
    "id": "task_1",
    "owner": "ann",
    "name": "näme",
    "description": "",
    "enabled": True,
    "integrations": ["github"],
    "max_credits": "12.3456",
    "max_credits_month": "60",
    "max_iterations": 8,
    "max_tokens": 4096,
    "model": "claude-haiku-4-5",
    "next_fire_at": None,
    "paused": None,
    "schedule": None,
    "schedule_generation": 0,
    "system_prompt": "",
    "task_prompt": "Do {{date}}",
    "temperature": None,
    "tool_loading": "all",
    "tools": ["api_call", "webhook"],
    "webhook_match": "host",
    "webhook_urls": ["https://hooks.example.com/1"],
    "created_at": NOW,
    "updated_at": NOW,
}
PLAN = {
    "name": "guru",
    "calls_per_execution": 20,
    "calls_per_minute": 10,
    "credits_per_execution": "500",
    "credits_per_month": "10000",
    "executions_queued": 50,
    "executions_running": 5,
    "iterations": 20,
    "response_bytes": 512_000,
    "schedule_minutes": 15,
    "streams": 10,
}
POLICY = {
    "owner": "ann",
    "task": "task_1",
    "plan": PLAN,
    "credentials": ["A"],
    "credits_per_month": "60",
    "declared": "{}",
    "domains": ["*.github.com"],
    "former": False,
    "headers": [],
    "integrations": ["github"],
    "tools": ["api_call"],
    "webhook": False,
    "webhook_match": "host",
    "webhook_urls": [],
}
QUEUED: dict[str, Any] = {
    "task": "task_1",
    "owner": "ann",
    "admitted": True,
    "status": "queued",
    "asked": 0,
    "cancel_requested": False,
    "completed_at": None,
    "coverage": b"",
    "created_at": NOW,
    "credits_held": "0",
    "credits_reserved": "0",
    "credits_used": "0",
    "error": None,
    "events": 0,
    "input": "Paris\n☂",
    "iterations": 0,
    "labels": {},
    "lease": None,
    "model_trouble": {"attempts": 0, "cause": "", "unreached": 0},
    "output": None,
    "policy": None,
    "rate": {"calls": 0, "window_calls": 0, "window_opened_at": None},
    "receipts": {"count": 0, "hash": "0" * 64},
    "schedule_generation": None,
    "scheduled_for": None,
    "slice": 0,
    "started_at": None,
    "tool_calls": [],
    "tool_calls_total": 0,
    "trace": "",
    "usage": {"cache_read_tokens": 0, "cache_write_tokens": 0, "input_tokens": 0, "output_tokens": 0},
}
OPENED = {"started_at": NOW, "policy": POLICY, "events": 1, "credits_reserved": "20"}
RUNNING = {**OPENED, "status": "running", "lease": {"epoch": 1, "expires_at": NOW + LEASE, "holder": "h"}}
ENDED = {**OPENED, "status": "completed", "completed_at": NOW + timedelta(seconds=9), "output": "done", "credits_used": "7.5"}
OCCUPANCY = {"queued": {"exec_queued": NOW}, "running": {"exec_running": NOW + LEASE}, "suspended": {}}
BALANCES = {
    # two of the credits were used by a task that was deleted since
    "owner:ann": {"credits_reserved": "20", "credits_used": "9.5", "month": "2026-11"},
    "task:task_1": {"credits_reserved": "20", "credits_used": "7.5", "month": "2026-11"},
    "task:task_gone": {"credits_reserved": "0", "credits_used": "2", "month": "2026-11"},
}


async def store_former(clients: GoogleClients) -> None:
    """Store them, each in as many writes as it took."""
    client = clients.firestore()
    await client.document("owners", "ann").set({"id": "ann", "plan": "guru", "created_at": NOW})
    await client.document("tasks", "task_1").set(TASK)
    for name, change in (("exec_queued", {}), ("exec_running", RUNNING), ("exec_ended", ENDED)):
        await client.document("executions", name).create({**QUEUED, "id": name})
        if change:
            await client.document("executions", name).update(change)
    await client.document("occupancy", "ann").set(OCCUPANCY)
    for name, balance in BALANCES.items():
        await client.document("purses", name).set({**balance, "id": name})


async def read_all(clients: GoogleClients) -> dict[str, Any]:
    """Return all documents by path."""
    collections = [collection async for collection in clients.firestore().collections()]
    return {item.reference.path: item.to_dict() for collection in collections async for item in collection.stream()}

"""Requests of MCP clients: every method of /mcp with something of another's in it, and everything that it lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.campaigns.isolation.attempts import COUNTERS, Attempt
from tests.campaigns.isolation.guesses import SPELLINGS
from tests.journeys.mcp_client import META, PAGES, TASKS, VERSION

KIND = "an id in a request of an MCP client"
FILE = "ferryman://files/"
NAMED_BY: Mapping[str, str] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    **dict.fromkeys(("tasks/get", "tasks/update", "tasks/cancel"), "taskId"),
}
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "server/discover")
IDS = ("execution", "task", "agent", "chat", "workspace")


def list_client_attempts() -> list[Attempt]:
    """Return the attempts of an MCP client."""
    return [*_list_named(), *_list_listed()]


def _list_named() -> Iterator[Attempt]:
    spelled = (f"⟦execution|{spelling}⟧" for spelling in SPELLINGS if spelling != "as it is")
    names = (*(f"⟦{kind}⟧" for kind in IDS), *spelled)
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        for name in names:
            yield _ask(KIND, method, {"taskId": name, "inputResponses": {"⟦execution⟧": {"action": "accept"}}})
    for kind in IDS:
        yield _call("get_execution", {"execution_id": f"⟦{kind}⟧"})
        yield _call("run_task", {"task_id": f"⟦{kind}⟧", "input": "Tell me."})
        yield _call("ask_agent", {"message": "Tell me.", "conversation_id": f"⟦{kind}⟧"})
        yield _ask(KIND, "prompts/get", {"name": f"⟦{kind}⟧", "arguments": {"input": "Tell me."}})
        yield _complete({"type": "ref/prompt", "name": f"⟦{kind}⟧"}, "input", "")
    for key in ("⟦file⟧", "../⟦workspace⟧/⟦file⟧", "/workspaces/⟦workspace⟧/⟦file⟧", "%2e%2e/⟦workspace⟧/⟦file⟧"):
        yield _ask(KIND, "resources/read", {"uri": f"{FILE}{key}"})
    for value in ("⟦file⟧", ""):
        yield _complete({"type": "ref/resource", "uri": FILE + "{+key}"}, "key", value)
    for method, params in (
        ("tools/list", {}),
        ("prompts/list", {}),
        ("tools/call", {"name": "ask_agent", "arguments": {"message": "Tell me."}}),
        ("tools/call", {"name": "calculator", "arguments": {"expression": "1 + 1"}}),
    ):
        yield _ask(KIND, method, params, query={"agent": "⟦agent⟧"})
    for method in LISTS:
        yield _ask(KIND, method, {}, headers={"Ferryman-Workspace": "⟦workspace⟧"})


def _list_listed() -> Iterator[Attempt]:
    for method in LISTS:
        yield _ask(COUNTERS, method, {})
    yield _ask(COUNTERS, "tools/call", {"name": "list_tasks", "arguments": {}})


def _call(name: str, arguments: Mapping[str, Any]) -> Attempt:
    return _ask(KIND, "tools/call", {"name": name, "arguments": dict(arguments)})


def _complete(ref: Mapping[str, Any], name: str, value: str) -> Attempt:
    return _ask(KIND, "completion/complete", {"ref": dict(ref), "argument": {"name": name, "value": value}})


def _ask(
    kind: str,
    method: str,
    params: Mapping[str, Any],
    *,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Attempt:
    meta = {f"{META}protocolVersion": VERSION, f"{META}clientCapabilities": {**TASKS, **PAGES}}
    named = {"Mcp-Name": str(params[NAMED_BY[method]])} if method in NAMED_BY else {}
    return Attempt(
        kind=kind,
        method="POST",
        path="/mcp",
        query=dict(query or {}),
        headers={"MCP-Protocol-Version": VERSION, "Mcp-Method": method, **named, **(headers or {})},
        body={"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}},
    )

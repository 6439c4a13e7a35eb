"""The MCP server of the simulated internet: both revisions, its tools, its rules, and what protects it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from emulator.clock import EmulatorClock
from emulator.internet.mcp import McpRules, SimulatedMcpServer, read_mcp_rules
from emulator.internet.mcp.revisions import CAPABILITIES, LEGACY, MODERN, TASKS, VERSION
from emulator.reading import InvalidRequestError

TOKEN = "for-this-server"


class Peer:
    """The server and a client that writes requests of either revision."""

    def __init__(self, http: httpx.AsyncClient, server: SimulatedMcpServer) -> None:
        self.http = http
        self.server = server
        self.session = ""

    def change(self, **rules: Any) -> None:
        self.server.rules = replace(self.server.rules, **rules)

    async def post(self, method: str, params: dict[str, Any] | None = None, **more: Any) -> httpx.Response:
        """Send a request of 2026-07-28; `more` may replace headers and capabilities."""
        params = dict(params or {})
        named = params.get("name") or params.get("taskId")
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, **({"Mcp-Name": named} if named else {})}
        params["_meta"] = {VERSION: MODERN, CAPABILITIES: more.get("capabilities", {"extensions": {TASKS: {}}})}
        if "token" in more:
            params["_meta"]["progressToken"] = more["token"]
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        return await self.http.post("/mcp", json=body, headers={**headers, **more.get("headers", {})})

    async def ask(self, method: str, params: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        result: dict[str, Any] = (await self.post(method, params, **more)).json()["result"]
        return result

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        return await self.ask("tools/call", {"name": name, "arguments": arguments})

    async def ask_legacy(self, method: str, params: dict[str, Any] | None = None) -> httpx.Response:
        if not self.session:
            body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {"elicitation": {}}}}
            self.session = (await self.http.post("/mcp", json=body)).headers["mcp-session-id"]
        body = {"jsonrpc": "2.0", "id": 2, "method": method, "params": params or {}}
        return await self.http.post("/mcp", json=body, headers={"mcp-session-id": self.session})


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    def is_valid(host: str, token: str, resource: str) -> bool:
        return (host, token, resource) == ("login.test", TOKEN, "https://mcp.test/mcp")

    server = SimulatedMcpServer("mcp.test", McpRules(slow_s=0.0), EmulatorClock(), is_valid)
    transport = httpx.ASGITransport(app=server)  # type: ignore[arg-type] # an ASGI application by its shape
    async with httpx.AsyncClient(transport=transport, base_url="https://mcp.test") as http:
        yield Peer(http, server)


def read_events(answer: httpx.Response) -> list[dict[str, Any]]:
    return [json.loads(line.removeprefix("data: ")) for line in answer.text.splitlines() if line.startswith("data: ")]


async def test_discovery_names_both_revisions(peer: Peer) -> None:
    assert (await peer.ask("server/discover"))["supportedVersions"] == [MODERN, LEGACY]


async def test_a_tool_answers(peer: Peer) -> None:
    assert (await peer.call("echo", text="hello"))["content"] == [{"type": "text", "text": "hello"}]


async def test_a_structured_answer_comes_beside_the_text(peer: Peer) -> None:
    assert (await peer.call("add", a=1, b=2))["structuredContent"] == {"sum": 3}


async def test_calls_are_counted_and_noted(peer: Peer) -> None:
    await peer.call("echo", text="hello")
    report = peer.server.report()
    assert (report["counts"], report["calls"]) == ({"tools/call": 1}, [{"name": "echo", "arguments": {"text": "hello"}}])


async def test_an_unsupported_revision_is_refused(peer: Peer) -> None:
    body = {"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"_meta": {VERSION: "2027-01-01"}}}
    answer = await peer.http.post("/mcp", json=body)
    assert (answer.status_code, answer.json()["error"]["data"]["supported"]) == (400, [MODERN, LEGACY])


async def test_a_server_of_the_older_revision_knows_no_other(peer: Peer) -> None:
    peer.change(revisions=(LEGACY,))
    assert (await peer.post("tools/list")).status_code == 400


async def test_a_server_of_the_newer_revision_has_no_sessions(peer: Peer) -> None:
    peer.change(revisions=(MODERN,))
    answer = await peer.http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "initialize"})
    assert answer.status_code == 400


@pytest.mark.parametrize("name", ["Mcp-Method", "Mcp-Name", "MCP-Protocol-Version"])
async def test_a_header_that_differs_from_the_body_is_refused(peer: Peer, name: str) -> None:
    params = {"name": "echo", "arguments": {"text": "hello"}}
    answer = await peer.post("tools/call", params, headers={name: "other"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)


@pytest.mark.parametrize(("value", "status"), [("eu", 200), ("=?base64?ZXU=?=", 200), ("us", 400), (None, 400)])
async def test_an_annotated_argument_is_repeated_by_a_header(peer: Peer, value: str | None, status: int) -> None:
    params = {"name": "query_region", "arguments": {"region": "eu", "query": "q"}}
    headers = {} if value is None else {"Mcp-Param-Region": value}
    assert (await peer.post("tools/call", params, headers=headers)).status_code == status


async def test_a_listing_comes_in_pages(peer: Peer) -> None:
    peer.change(page=3)
    first = await peer.ask("tools/list")
    second = await peer.ask("tools/list", {"cursor": first["nextCursor"]})
    assert [len(first["tools"]), len(second["tools"]), first["tools"][0] in second["tools"]] == [3, 3, False]


async def test_a_descriptor_can_be_changed(peer: Peer) -> None:
    peer.server.rules = read_mcp_rules({"changed": {"echo": {"description": "Else."}}}, "body", peer.server.rules)
    assert (await peer.ask("tools/list"))["tools"][0]["description"] == "Else."


async def test_tools_can_come_and_go(peer: Peer) -> None:
    changes = {"added": [{"name": "new", "inputSchema": {"type": "object"}}], "hidden": ["echo"]}
    peer.server.rules = read_mcp_rules(changes, "body", peer.server.rules)
    names = [tool["name"] for tool in (await peer.ask("tools/list"))["tools"]]
    assert ("echo" in names, names[-1]) == (False, "new")


async def test_progress_comes_before_the_result(peer: Peer) -> None:
    peer.change(answers="sse")
    events = read_events(await peer.post("tools/call", {"name": "slow", "arguments": {"steps": 2}}, token="t"))
    assert [event.get("method", "result") for event in events] == ["notifications/progress"] * 2 + ["result"]


async def test_events_have_no_ids(peer: Peer) -> None:
    peer.change(answers="sse")
    answer = await peer.post("tools/list")
    assert [line for line in answer.text.splitlines() if line.startswith("id:")] == []


async def test_a_method_that_is_not_served_is_unknown(peer: Peer) -> None:
    answer = await peer.post("resources/list")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, -32601)


async def test_a_task_ends_with_a_poll(peer: Peer) -> None:
    task = (await peer.call("count_words", text="one two"))["taskId"]
    polls = [await peer.ask("tasks/get", {"taskId": task}) for _ in range(2)]
    assert [polls[0]["status"], polls[1]["result"]["content"][0]["text"]] == ["working", "2 words"]


async def test_a_task_can_be_cancelled(peer: Peer) -> None:
    task = (await peer.call("count_words", text="one two"))["taskId"]
    await peer.ask("tasks/cancel", {"taskId": task})
    assert (await peer.ask("tasks/get", {"taskId": task}))["status"] == "cancelled"


async def test_a_client_without_tasks_waits_for_the_answer(peer: Peer) -> None:
    result = await peer.ask("tools/call", {"name": "count_words", "arguments": {"text": "one"}}, capabilities={})
    assert result["content"][0]["text"] == "1 words"


async def test_a_form_is_answered_with_its_state(peer: Peer) -> None:
    question = await peer.call("book_table", day="Monday")
    answer = {"booking": {"action": "accept", "content": {"people": 2, "hour": "18:00"}}}
    again = {"name": "book_table", "arguments": {"day": "Monday"}, "inputResponses": answer}
    result = await peer.ask("tools/call", {**again, "requestState": question["requestState"]})
    assert result["content"][0]["text"] == "booked 2 people on Monday at 18:00"


@pytest.mark.parametrize("day", ["Monday", "Tuesday"])
async def test_a_state_is_for_one_answer_to_one_call(peer: Peer, day: str) -> None:
    question = await peer.call("book_table", day="Monday")
    again = {"name": "book_table", "inputResponses": {}, "requestState": question["requestState"]}
    await peer.post("tools/call", {**again, "arguments": {"day": day}})
    answer = await peer.post("tools/call", {**again, "arguments": {"day": "Monday"}})
    assert answer.json()["error"]["code"] == -32602


async def test_a_page_is_named_for_a_person(peer: Peer) -> None:
    question = await peer.call("link_account")
    assert question["inputRequests"]["link"]["params"]["url"].startswith("https://mcp.test/link?state=")


async def test_the_older_revision_has_sessions(peer: Peer) -> None:
    answer = await peer.ask_legacy("tools/call", {"name": "echo", "arguments": {"text": "hello"}})
    assert answer.json()["result"]["content"][0]["text"] == "hello"


async def test_a_session_that_is_forgotten_is_not_found(peer: Peer) -> None:
    await peer.ask_legacy("ping")
    peer.server.forget_sessions()
    assert (await peer.ask_legacy("ping")).status_code == 404


async def test_the_older_revision_asks_in_the_stream(peer: Peer) -> None:
    peer.change(answers="sse", revisions=(LEGACY,))
    await peer.ask_legacy("ping")
    calling = asyncio.ensure_future(peer.ask_legacy("tools/call", {"name": "book_table", "arguments": {"day": "Monday"}}))
    while not (waiting := peer.server._answering._open):  # noqa: ASYNC110 - the test's own client writes it
        await asyncio.sleep(0)
    result = {"action": "accept", "content": {"people": 2, "hour": "18:00"}}
    answer = {"jsonrpc": "2.0", "id": next(iter(waiting)), "result": result}
    await peer.http.post("/mcp", json=answer, headers={"mcp-session-id": peer.session})
    question, booked = read_events(await calling)
    assert (question["method"], booked["result"]["content"][0]["text"][:6]) == ("elicitation/create", "booked")


@pytest.mark.parametrize(("key", "status"), [("k", 200), ("", 401), ("other", 401)])
async def test_a_key_is_asked_for(peer: Peer, key: str, status: int) -> None:
    peer.change(headers={"x-api-key": "k"})
    assert (await peer.post("tools/list", headers={"x-api-key": key})).status_code == status


@pytest.mark.parametrize(("token", "status"), [(TOKEN, 200), ("other", 401)])
async def test_a_token_is_asked_for(peer: Peer, token: str, status: int) -> None:
    peer.change(authorization="login.test")
    assert (await peer.post("tools/list", headers={"authorization": f"Bearer {token}"})).status_code == status


async def test_the_refusal_names_the_metadata_of_the_resource(peer: Peer) -> None:
    peer.change(authorization="login.test", scope="read")
    challenge = (await peer.post("tools/list")).headers["www-authenticate"]
    metadata = (await peer.http.get("/.well-known/oauth-protected-resource/mcp")).json()
    assert 'resource_metadata="https://mcp.test/.well-known/oauth-protected-resource/mcp"' in challenge
    assert metadata == {
        "resource": "https://mcp.test/mcp",
        "authorization_servers": ["https://login.test"],
        "scopes_supported": ["read"],
    }


@pytest.mark.parametrize(
    "rules", [{"revisions": []}, {"revisions": ["2024-11-05"]}, {"answers": "xml"}, {"path": "mcp"}, {"tools": []}]
)
def test_rules_that_cannot_be_are_refused(rules: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError):
        read_mcp_rules(rules, "body")

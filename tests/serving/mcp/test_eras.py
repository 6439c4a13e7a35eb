"""Versions: a request of 2026 names its own, one of 2025 is in a session."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ferryman.domain.mcp_revisions import PROTOCOL_VERSION
from ferryman.serving.mcp.sessions import LIFETIME

from .client import Client
from .servers import VISIT, Stage


async def test_an_unknown_version_is_answered_with_the_versions_of_this_server(client: Client) -> None:
    params = {"_meta": {PROTOCOL_VERSION: "2099-01-01"}}
    answer = await client.call("tools/list", params, MCP_Protocol_Version="2099-01-01")
    assert (answer.status, answer.code) == (400, -32022)
    assert answer.error["data"] == {"supported": ["2026-07-28", "2025-11-25", "2025-06-18"], "requested": "2099-01-01"}


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/list", "x"])
async def test_a_method_that_2026_does_not_have_is_404(client: Client, method: str) -> None:
    answer = await client.call(method)
    assert (answer.status, answer.code) == (404, -32601)


async def test_a_method_that_2025_does_not_have_is_an_error_in_a_good_answer(client: Client) -> None:
    await client.initialize()
    answer = await client.call_old("server/discover")
    assert (answer.status, answer.code) == (200, -32601)


@pytest.mark.parametrize(
    ("asking", "agreed"), [("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2025-11-25")]
)
async def test_initialize_agrees_on_a_version_that_both_speak(client: Client, asking: str, agreed: str) -> None:
    assert (await client.initialize(asking)).result["protocolVersion"] == agreed


@pytest.mark.parametrize("name", ["protocolVersion", "capabilities", "clientInfo"])
async def test_initialize_needs_all_of_its_parameters(client: Client, name: str) -> None:
    params: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    answer = await client.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {**params, name: 1}})
    assert answer.code == -32602


async def test_a_session_is_visible_ascii(client: Client) -> None:
    session = (await client.initialize()).headers["mcp-session-id"]
    assert all(0x21 <= ord(character) <= 0x7E for character in session)


async def test_a_request_of_2025_without_its_session_is_refused(client: Client) -> None:
    answer = await client.call_old("tools/list")
    assert (answer.status, answer.code) == (400, -32600)


@pytest.mark.parametrize("change", ["swap", "cut", "other", "empty payload"])
async def test_a_session_that_was_changed_is_404(client: Client, change: str) -> None:
    await client.initialize()
    session = client.session or ""
    changed = {
        "swap": session[::-1],
        "cut": session[:-1],
        "other": "x" + session[1:],
        "empty payload": "." + session.split(".")[1],
    }
    client.session = changed[change]
    assert (await client.call_old("tools/list")).status == 404


async def test_a_session_of_another_caller_is_404() -> None:
    callers = iter(["ann", "bob"])

    async def authenticate(_: Any, __: bytes) -> str:
        return next(callers)

    client = Client(Stage(authenticate=authenticate).server)
    await client.initialize()
    assert (await client.call_old("tools/list")).status == 404


async def test_a_session_that_is_too_old_is_404(client: Client, stage: Stage) -> None:
    await client.initialize()
    stage.clock.turn(LIFETIME - timedelta(seconds=1))
    assert (await client.call_old("tools/list")).status == 200
    stage.clock.turn(1)
    assert (await client.call_old("tools/list")).status == 404


async def test_a_session_goes_on_while_its_key_is_replaced(client: Client, stage: Stage) -> None:
    async def read_keys() -> list[bytes]:
        return [b"n" * 32, b"k" * 32]

    await client.initialize()
    client.server = Stage(session_keys=read_keys).server
    assert (await client.call_old("tools/list")).status == 200


async def test_a_session_has_the_version_that_was_agreed_on(client: Client) -> None:
    await client.initialize("2025-06-18")
    assert (await client.call_old("tools/list")).status == 400


async def test_a_session_remembers_what_the_client_declared_and_nothing_that_it_invented(client: Client) -> None:
    client.capabilities = {"sampling": {"tools": {}}, "elicitation": {"url": {}, "other": {}}, "invented": {"a": "b" * 5_000}}
    await client.initialize()
    assert client.session is not None
    assert len(client.session) < 500
    assert (await client.call_old("tools/call", {"name": "approve"})).code == -32042


async def test_a_page_to_visit_is_an_error_in_2025(client: Client) -> None:
    await client.initialize()
    answer = await client.call_old("tools/call", {"name": "approve"})
    assert (answer.status, answer.code) == (200, -32042)
    assert answer.error["data"] == {"elicitations": [{"elicitationId": "a1", **VISIT["params"]}]}


async def test_a_client_of_2025_without_that_capability_is_told_so(plain: Client) -> None:
    await plain.initialize()
    assert (await plain.call_old("tools/call", {"name": "approve"})).code == -32021


async def test_there_are_no_tasks_in_2025(client: Client) -> None:
    await client.initialize()
    assert (await client.call_old("tasks/get", {"taskId": "t1"})).code == -32601
    assert (await client.call_old("tools/call", {"name": "task"})).code == -32603


async def test_a_server_without_sessions_serves_clients_of_2025_that_name_their_version() -> None:
    client = Client(Stage(session_keys=None).server)
    assert "mcp-session-id" not in (await client.initialize()).headers
    assert (await client.call_old("tools/list")).status == 200


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/unknown"])
async def test_a_notification_is_acknowledged_without_a_body(client: Client, method: str) -> None:
    await client.initialize()
    answer = await client.notify_old(method)
    assert (answer.status, answer.body) == (202, b"")


async def test_a_refused_caller_is_told_so_before_the_body_is_read() -> None:
    from starlette.exceptions import HTTPException

    async def authenticate(_: Any, __: bytes) -> None:
        raise HTTPException(401, "no such API key", {"WWW-Authenticate": "Bearer"})

    answer = await Client(Stage(authenticate=authenticate).server).send(b"{")
    assert (answer.status, answer.code, answer.headers["www-authenticate"]) == (401, 401, "Bearer")


@pytest.mark.parametrize(("status", "name"), [(401, None), (403, 1), (429, 1)])
async def test_a_caller_that_is_known_and_refused_gets_its_id_back(status: int, name: int | None) -> None:
    from starlette.exceptions import HTTPException

    async def authenticate(_: Any, __: bytes) -> None:
        raise HTTPException(status, "not now")

    answer = await Client(Stage(authenticate=authenticate).server).call("tools/list")
    assert (answer.status, answer.code, answer.messages[0].get("id")) == (status, status, name)


async def test_an_unknown_version_in_the_header_alone_is_answered_with_the_versions_of_this_server(client: Client) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    answer = await client.send(message, {"MCP-Protocol-Version": "2099-01-01", "Mcp-Method": "tools/list"})
    assert (answer.status, answer.code) == (400, -32022)


async def test_a_response_is_not_taken_in_2026(client: Client) -> None:
    answer = await client.send({"jsonrpc": "2.0", "id": 1, "result": {}}, {"MCP-Protocol-Version": "2026-07-28"})
    assert (answer.status, answer.code) == (400, -32022)


async def test_a_failed_method_is_an_error_in_a_good_answer_in_2025(client: Client) -> None:
    await client.initialize()
    answer = await client.call_old("tools/call", {"name": "fail"})
    assert (answer.status, answer.code) == (200, -32603)


async def test_a_session_remembers_the_beginning_of_a_long_name(client: Client) -> None:
    info = {"name": "n" * 5_000, "version": "v" * 5_000}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}
    answer = await client.send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    assert len(answer.headers["mcp-session-id"]) < 1_000

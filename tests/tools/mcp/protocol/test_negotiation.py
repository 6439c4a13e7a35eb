"""Which revision is spoken: asked for without any effect, remembered, and found out again where the server has changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ferryman.domain.mcp_revisions import LEGACY, MODERN
from ferryman.tools.mcp.protocol import (
    ClientCapabilities,
    HttpMessage,
    HttpStatusError,
    McpClientError,
    ServerError,
    UnsupportedServerError,
    read_descriptor,
)

from .peers import JSON_HEADERS, WrittenResponse, WrittenServer, make_client, write_json, write_result

TOOL = read_descriptor({"name": "t", "inputSchema": {"type": "object"}})
LISTING = {"tools": [], "content": []}
OLD = {"protocolVersion": LEGACY[0], "capabilities": {}, "serverInfo": {"name": "old", "version": "1"}}

Answer = Callable[[HttpMessage], WrittenResponse]


def say(result: Mapping[str, Any]) -> Answer:
    return lambda request: WrittenResponse([write_json(write_result(request, result))])


def fail(code: int, status: int = 200, data: Any = None, *, has_id: bool = True) -> Answer:
    def write(request: HttpMessage) -> WrittenResponse:
        error = {"code": code, "message": "no", **({} if data is None else {"data": data})}
        names = {"id": request.body["id"]} if has_id and request.body else {}
        return WrittenResponse([write_json({"jsonrpc": "2.0", **names, "error": error})], JSON_HEADERS, status)

    return write


def status(code: int, body: bytes = b"", kind: str = "text/html") -> Answer:
    return lambda request: WrittenResponse([body], (("content-type", kind),), code)


ACCEPTED: Answer = lambda request: WrittenResponse((), (), 202)  # noqa: E731 - a table of answers
DISCOVERED = say({"supportedVersions": [MODERN, LEGACY[0]]})


def answer_by_method(**answers: Answer) -> WrittenServer:
    """Return a server that answers each method, named with `_` for `/`, in its way."""
    usual = {"server_discover": DISCOVERED, "initialize": say(OLD), "notifications_initialized": ACCEPTED}
    table = {**usual, "tools_list": say(LISTING), "tools_call": say(LISTING), "ping": say({}), **answers}

    def write(request: HttpMessage) -> WrittenResponse:
        assert request.body is not None
        return table[request.body["method"].replace("/", "_")](request)

    return WrittenServer(write)


MODERN_PATH = ["server/discover", "tools/list"]
LEGACY_PATH = ["server/discover", "initialize", "notifications/initialized", "tools/list"]

LEGACY_ANSWERS = {
    "an unknown method": fail(-32601),
    "a request that is invalid": fail(-32600, 400),
    "no session": fail(-32000, 400, has_id=False),
    "a status alone": status(400),
    "no such page": status(404, b"<html>"),
    "another method": status(405),
    "not acceptable": status(406),
    "a strange result": say({"content": []}),
    "only older versions": fail(-32022, 400, {"supported": ["2025-11-25", "2024-11-05"]}),
    "a discovery of older versions": say({"supportedVersions": ["2025-11-25"]}),
}


@pytest.mark.parametrize("kind", LEGACY_ANSWERS)
async def test_a_server_that_does_not_know_2026_is_initialized(kind: str) -> None:
    server = answer_by_method(server_discover=LEGACY_ANSWERS[kind])
    client = make_client(server, revision=None)
    await client.list_tools()
    assert (server.methods, client.revision, client.server_info.name) == (LEGACY_PATH, LEGACY[0], "old")


async def test_a_server_that_knows_2026_is_asked_at_once() -> None:
    server = answer_by_method()
    client = make_client(server, revision=None)
    await client.list_tools()
    assert (server.methods, client.revision) == (MODERN_PATH, MODERN)


async def test_a_server_of_2026_that_does_not_discover_is_one_of_2026() -> None:
    server = answer_by_method(server_discover=fail(-32601, 404))
    client = make_client(server, revision=None)
    await client.list_tools()
    assert (server.methods, client.revision) == (MODERN_PATH, MODERN)


@pytest.mark.parametrize("code", [401, 403, 429, 500, 503, 302])
async def test_a_status_that_says_nothing_of_the_revision_is_a_failure(code: int) -> None:
    server = answer_by_method(server_discover=status(code))
    with pytest.raises(HttpStatusError) as error:
        await make_client(server, revision=None).list_tools()
    assert (error.value.status, server.methods) == (code, ["server/discover"])


@pytest.mark.parametrize("code", [-32020, -32021])
async def test_another_refusal_of_2026_is_no_reason_for_2025(code: int) -> None:
    server = answer_by_method(server_discover=fail(code, 400))
    with pytest.raises(ServerError):
        await make_client(server, revision=None).list_tools()
    assert server.methods == ["server/discover"]


NO_COMMON = {
    "older ones alone": {"server_discover": fail(-32022, 400, {"supported": ["2024-11-05"]})},
    "none named": {"server_discover": fail(-32022, 400)},
    "a strange list": {"server_discover": fail(-32022, 400, {"supported": {"a": 1}})},
    "strange members": {"server_discover": say({"supportedVersions": [1, None, {}]})},
    "an old answer to initialize": {
        "server_discover": status(400),
        "initialize": say({**OLD, "protocolVersion": "2024-11-05"}),
    },
    "an answer of 2026 to initialize": {"server_discover": status(400), "initialize": say({**OLD, "protocolVersion": MODERN})},
    "a list as version": {"server_discover": status(400), "initialize": say({**OLD, "protocolVersion": []})},
}


@pytest.mark.parametrize("kind", NO_COMMON)
async def test_without_a_common_revision_nothing_is_called(kind: str) -> None:
    server = answer_by_method(**NO_COMMON[kind])
    with pytest.raises(UnsupportedServerError, match="2026-07-28"):
        await make_client(server, revision=None).call_tool(TOOL, {})
    assert "tools/call" not in server.methods


async def test_a_remembered_revision_of_2026_is_not_asked_for() -> None:
    server = answer_by_method()
    await make_client(server, revision=MODERN).list_tools()
    assert server.methods == ["tools/list"]


async def test_a_remembered_revision_of_2025_is_initialized_at_once() -> None:
    server = answer_by_method()
    await make_client(server, revision=LEGACY[0]).list_tools()
    assert server.methods == LEGACY_PATH[1:]


async def test_an_unknown_remembered_revision_is_as_none() -> None:
    server = answer_by_method()
    await make_client(server, revision="2031-01-01").list_tools()
    assert server.methods == MODERN_PATH


async def test_a_server_that_went_back_to_2025_is_asked_again() -> None:
    refused = fail(-32022, 400, {"supported": [LEGACY[0]]})
    is_modern = True

    def list_tools(request: HttpMessage) -> WrittenResponse:
        return (refused if "mcp-method" in request.headers else say(LISTING))(request)

    server = answer_by_method(server_discover=refused, tools_list=list_tools)
    client = make_client(server, revision=MODERN)
    await client.list_tools()
    assert (server.methods, client.revision, is_modern) == (["tools/list", *LEGACY_PATH], LEGACY[0], True)


async def test_a_call_is_not_sent_again_after_a_server_changed_its_revision() -> None:
    server = answer_by_method(tools_call=fail(-32022, 400, {"supported": [LEGACY[0]]}))
    client = make_client(server, revision=MODERN)
    with pytest.raises(UnsupportedServerError):
        await client.call_tool(TOOL, {})
    assert (server.methods, client.revision) == (["tools/call"], None)


@pytest.mark.parametrize("answer", [status(400), status(404), fail(-32601, 404), fail(-32020, 400)])
async def test_a_server_that_went_on_to_2026_is_found_out(answer: Answer) -> None:
    server = answer_by_method(initialize=answer)
    client = make_client(server, revision=LEGACY[0])
    await client.list_tools()
    assert (server.methods, client.revision) == (["initialize", *MODERN_PATH], MODERN)


@pytest.mark.parametrize("code", [401, 503])
async def test_a_session_that_is_refused_for_another_reason_is_a_failure(code: int) -> None:
    server = answer_by_method(initialize=status(code))
    client = make_client(server, revision=LEGACY[0])
    with pytest.raises(HttpStatusError):
        await client.list_tools()
    assert (server.methods, client.revision) == (["initialize"], LEGACY[0])


async def test_discovering_begins_afresh() -> None:
    server = answer_by_method(server_discover=say({"supportedVersions": [MODERN], "instructions": "x" * 99_999}))
    client = make_client(server, revision=LEGACY[0])
    await client.list_tools()
    await client.discover()
    assert (client.revision, len(client.instructions)) == (MODERN, 32_768)


async def test_a_request_of_2026_has_all_that_the_specification_asks_for() -> None:
    server = answer_by_method()
    client = make_client(server, capabilities=ClientCapabilities(form=True, tasks=True))
    await client.call_tool(TOOL, {"a": 1})
    (request,) = server.messages
    assert request.body is not None
    assert request.headers == {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": MODERN,
        "mcp-method": "tools/call",
        "mcp-name": "t",
    }
    assert request.body["params"] == {
        "name": "t",
        "arguments": {"a": 1},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "ferryman", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {
                "elicitation": {"form": {}},
                "extensions": {"io.modelcontextprotocol/tasks": {}},
            },
        },
    }


@pytest.mark.parametrize("revision", [MODERN, LEGACY[0]])
async def test_no_two_requests_have_one_id(revision: str) -> None:
    server = answer_by_method()
    client = make_client(server, revision=revision)
    for _ in range(3):
        await client.list_tools()
    ids = [request.body["id"] for request in server.messages if request.body and "id" in request.body]
    assert len(ids) == len(set(ids))


async def test_only_a_call_has_an_effect() -> None:
    server = answer_by_method(server_discover=status(400))
    await make_client(server, revision=None).call_tool(TOOL, {})
    effects = {method for method, request in zip(server.methods, server.messages, strict=True) if request.has_effect}
    assert effects == {"tools/call"}


async def test_tasks_are_not_asked_for_in_2025() -> None:
    server = answer_by_method()
    with pytest.raises(UnsupportedServerError):
        await make_client(server, revision=LEGACY[0], capabilities=ClientCapabilities(tasks=True)).get_task("a")
    declared = server.messages[0].body["params"]["capabilities"]  # type: ignore[index]
    assert ("tasks/get" in server.methods, declared) == (False, {})


async def test_a_result_of_2025_is_complete_whatever_it_says() -> None:
    asking = {"content": [], "resultType": "input_required", "inputRequests": {}, "requestState": "x"}
    outcome = await make_client(answer_by_method(tools_call=say(asking)), revision=LEGACY[0]).call_tool(TOOL, {})
    assert type(outcome).__name__ == "Completed"


async def test_every_failure_is_one_of_the_client_s() -> None:
    for answers in NO_COMMON.values():
        with pytest.raises(McpClientError):
            await make_client(answer_by_method(**answers), revision=None).list_tools()


async def test_a_version_that_is_refused_and_named_as_supported_is_tried_again() -> None:
    server = answer_by_method(server_discover=fail(-32022, 400, {"supported": [MODERN]}))
    await make_client(server, revision=None).list_tools()
    assert server.methods == MODERN_PATH


async def test_requests_of_two_clients_have_different_ids() -> None:
    server = answer_by_method()
    for _ in range(2):
        await make_client(server).call_tool(TOOL, {})
    first, second = (message.body["id"] for message in server.messages if message.body)
    assert first != second

"""Headers that repeat the body: where they disagree, nothing is run."""

from __future__ import annotations

import base64

import pytest

from ferryman.domain.mcp_headers import find_annotations

from .client import Client
from .servers import Stage


def encode(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


@pytest.mark.parametrize(
    "headers",
    [
        {"Mcp_Method": "tools/list"},
        {"Mcp_Method": "TOOLS/CALL"},
        {"Mcp_Method": ""},
        {"Mcp_Name": "fail"},
        {"Mcp_Name": ""},
        {"Mcp_Name": "=?base64?ZWNobw?="},
        {"Mcp_Name": "=?base64?ZWNo!bw==?="},
        {"Mcp_Name": "=?base64?/w==?="},
        {"Mcp_Name": "ech\xf6"},
        {"MCP_Protocol_Version": "2025-11-25"},
        {"MCP_Protocol_Version": ""},
    ],
)
async def test_headers_that_disagree_with_the_body_are_refused(client: Client, headers: dict[str, str]) -> None:
    answer = await client.call("tools/call", {"name": "echo"}, **headers)
    assert (answer.status, answer.code) == (400, -32020)


@pytest.mark.parametrize("name", ["echo", " echo ", encode("echo")])
async def test_a_name_may_be_encoded_or_padded(client: Client, name: str) -> None:
    assert (await client.call("tools/call", {"name": "echo"}, Mcp_Name=name)).status == 200


@pytest.mark.parametrize("method", ["tasks/get", "resources/read"])
async def test_a_task_and_a_resource_are_named_as_well(client: Client, method: str) -> None:
    params = {"taskId": "t1", "uri": "t1"}
    answer = await client.call(method, params, Mcp_Name="t2")
    assert answer.code == (-32020 if method == "tasks/get" else -32601)


async def test_a_header_that_comes_twice_is_refused(client: Client) -> None:
    posting = client.begin("tools/list")
    scope_headers = [("Mcp-Method", "tools/list"), ("mcp-method", "tools/call"), ("MCP-Protocol-Version", "2026-07-28")]
    from .client import Posting

    twice = Posting(client.server, posting.body, [("content-type", "application/json"), *scope_headers])
    assert (await twice.finish()).code == -32020


@pytest.mark.parametrize(
    ("arguments", "header"),
    [
        ({"region": "eu"}, "us"),
        ({"region": "eu"}, ""),
        ({"region": "eu"}, "EU"),
        ({}, "eu"),
        ({"region": None}, "eu"),
        ({"region": "Ü"}, "Ü"),
        ({"region": "eu"}, "=?base64?ZXU?="),
    ],
)
async def test_a_parameter_that_disagrees_with_its_header_is_refused(client: Client, arguments: object, header: str) -> None:
    answer = await client.call("tools/call", {"name": "route", "arguments": arguments}, Mcp_Param_Region=header)
    assert (answer.status, answer.code) == (400, -32020)


@pytest.mark.parametrize(
    ("arguments", "header"), [({"region": "eu"}, "eu"), ({"region": "Ü"}, encode("Ü")), ({}, ""), ({"region": None}, "")]
)
async def test_a_parameter_that_agrees_with_its_header_is_taken(client: Client, arguments: object, header: str) -> None:
    answer = await client.call("tools/call", {"name": "route", "arguments": arguments}, Mcp_Param_Region=header)
    assert answer.status == 200


async def test_numbers_are_compared_as_numbers(stage: Stage) -> None:
    from starlette.datastructures import Headers

    from ferryman.serving.mcp.errors import McpError
    from ferryman.serving.mcp.headers import check_parameters

    schema = {
        "properties": {"count": {"type": "integer", "x-mcp-header": "Count"}, "on": {"type": "boolean", "x-mcp-header": "On"}}
    }
    check_parameters(Headers({"mcp-param-count": "42.0", "mcp-param-on": "true"}), schema, {"count": 42, "on": True})
    with pytest.raises(McpError):
        check_parameters(Headers({"mcp-param-count": "42", "mcp-param-on": "True"}), schema, {"count": 42, "on": True})


def test_annotations_are_found_along_properties_alone() -> None:
    inner = {"type": "string", "x-mcp-header": "Deep"}
    schema = {
        "properties": {"a": {"properties": {"b": inner}}, "c": {"items": {"properties": {"d": inner}}}, "e": True},
        "anyOf": [{"properties": {"f": inner}}],
    }
    assert list(find_annotations(schema)) == [("Deep", ("a", "b"))]


async def test_clients_of_2025_repeat_nothing(client: Client) -> None:
    await client.initialize()
    answer = await client.call_old("tools/call", {"name": "route", "arguments": {"region": "eu"}})
    assert answer.status == 200


@pytest.mark.parametrize(
    ("hosts", "headers", "status"),
    [
        (("localhost",), {"Host": "localhost:3000"}, 200),
        (("localhost",), {"Host": "evil.example"}, 421),
        (("localhost",), {"Host": "localhost.evil.example"}, 421),
        (("localhost",), {"Host": "localhost", "Origin": "http://localhost:5000"}, 200),
        (("localhost",), {"Host": "localhost", "Origin": "https://evil.example"}, 403),
        (("localhost",), {"Host": "localhost", "Origin": "null"}, 403),
        (("localhost",), {"Host": "localhost", "Origin": "http://localhost.evil.example"}, 403),
        (("localhost",), {"Host": "localhost", "Origin": "http://[::1"}, 403),
        (None, {"Host": "ferryman.example"}, 200),
        (None, {"Host": "ferryman.example", "Origin": "https://ferryman.example"}, 403),
        (None, {"Host": "ferryman.example", "Origin": "https://app.example"}, 200),
    ],
)
async def test_other_names_and_pages_of_other_origins_are_refused(
    hosts: tuple[str, ...] | None, headers: dict[str, str], status: int
) -> None:
    client = Client(Stage(hosts=hosts, origins=("https://app.example",)).server)
    message = client.build("tools/list")
    usual = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
    assert (await client.send(message, {**usual, **headers})).status == status

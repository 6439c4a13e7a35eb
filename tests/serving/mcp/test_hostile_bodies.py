"""Bodies of strangers: whatever they are, the answer is a JSON-RPC error with the revision's code, and nothing is run."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from ferryman.domain.mcp_revisions import CLIENT_CAPABILITIES, MODERN, PROTOCOL_VERSION
from ferryman.domain.strict_json import is_nested_deeper
from ferryman.serving.mcp import McpError
from ferryman.serving.mcp.reading import DEPTH_MAX, ID_MAX, VALUES_MAX, parse_message

from .client import Client
from .servers import Stage
from .test_fuzz import VALUES

META = {PROTOCOL_VERSION: MODERN, CLIENT_CAPABILITIES: {}}
HEADERS = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}


def write(**changes: Any) -> bytes:
    """Return a good request, with changes; what is changed to `...` is left out."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}, **changes}
    return json.dumps({name: value for name, value in message.items() if value is not ...}).encode()


BODIES = {
    "nothing": (b"", -32700, None),
    "no JSON": (b"{", -32700, None),
    "two values": (b"{} {}", -32700, None),
    "not UTF-8": (b'{"id": "\xff"}', -32700, None),
    "UTF-16": (write().decode().encode("utf-16"), -32700, None),
    "a megabyte of nesting": (b"[" * 999_000, -32600, None),
    "nested 9,000 deep": (b"[" * 9_000 + b"]" * 9_000, -32700, None),
    "a megabyte of nested objects": (b'{"a":' * 199_000, -32600, None),
    "a megabyte of quotes in a text that does not end": (b'["' + b'\\"' * 490_000 + b"," * 10_000, -32700, None),
    "nested a little too deep": (write(params=json.loads('{"a":' * DEPTH_MAX + "1" + "}" * DEPTH_MAX)), -32700, None),
    "NaN": (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"a": NaN}}', -32700, None),
    "infinity": (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"a": 1e999}}', -32700, None),
    "an integer of 5,000 digits": (b'{"jsonrpc": "2.0", "id": 1' + b"0" * 5_000 + b"}", -32700, None),
    "a name twice": (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "method": "tools/list"}', -32700, None),
    "a name twice, deep inside": (
        b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"a": [{"b": 1, "b": 2}]}}',
        -32700,
        None,
    ),
    "half of a character": (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"a": "\\ud800"}}', -32700, None),
    "a batch": (b"[" + write() + b"]", -32600, None),
    "an empty batch": (b"[]", -32600, None),
    "a text": (b'"tools/list"', -32600, None),
    "null": (b"null", -32600, None),
    "no version of JSON-RPC": (write(jsonrpc=...), -32600, 1),
    "another version of JSON-RPC": (write(jsonrpc="1.0"), -32600, 1),
    "an id that is null": (write(id=None), -32600, None),
    "an id that is true": (write(id=True), -32600, None),
    "an id with a fraction": (write(id=1.5), -32600, None),
    "an id that is a list": (write(id=[1]), -32600, None),
    "an id that is too large": (write(id=ID_MAX + 1), -32600, None),
    "an id that is too long": (write(id="i" * 2_000), -32600, None),
    "a method that is a number": (write(method=1), -32600, 1),
    "no method": (write(method=...), -32600, 1),
    "a method without letters": (write(method=""), -32600, 1),
    "a response with params": (write(method=..., result={}), -32600, 1),
    "a result as well": (write(result={}), -32600, 1),
    "params that are a list": (write(params=[]), -32602, 1),
    "params that are null": (write(params=None), -32602, 1),
    "metadata that are a list": (write(params={"_meta": []}), -32602, 1),
    "no metadata": (write(params={}), -32602, 1),
    "a version that is a number": (write(params={"_meta": {**META, PROTOCOL_VERSION: 1}}), -32602, 1),
    "capabilities that are a list": (write(params={"_meta": {**META, CLIENT_CAPABILITIES: []}}), -32602, 1),
    "a progress token that is too long": (write(params={"_meta": {**META, "progressToken": "p" * 1_025}}), -32602, 1),
    "a progress token that is too large": (write(params={"_meta": {**META, "progressToken": ID_MAX + 1}}), -32602, 1),
    "a progress token that is true": (write(params={"_meta": {**META, "progressToken": True}}), -32602, 1),
    "responses that are a list": (write(params={"_meta": META, "inputResponses": []}), -32602, 1),
    "a response that is a text": (write(params={"_meta": META, "inputResponses": {"a": "yes"}}), -32602, 1),
    "too many responses": (write(params={"_meta": META, "inputResponses": {str(n): {} for n in range(65)}}), -32602, 1),
    "a state that is an object": (write(params={"_meta": META, "requestState": {}}), -32602, 1),
    "a cursor that is a number": (write(params={"_meta": META, "cursor": 5}), -32602, 1),
    "a cursor of somebody else": (write(params={"_meta": META, "cursor": "bm90IG91cnM="}), -32602, 1),
}


@pytest.mark.parametrize(("body", "code", "name"), BODIES.values(), ids=BODIES)
async def test_a_hostile_body_is_an_error_of_json_rpc(client: Client, body: bytes, code: int, name: int | None) -> None:
    answer = await client.send(body, HEADERS)
    (message,) = answer.messages
    assert (answer.status, message["error"]["code"], message.get("id")) == (400, code, name)
    assert message["jsonrpc"] == "2.0"


async def test_the_body_that_the_others_change_is_a_good_one(client: Client) -> None:
    assert (await client.send(write(), HEADERS)).status == 200


@pytest.mark.parametrize("name", [ID_MAX, -ID_MAX, 0, "", "i" * 1_024])
async def test_an_id_comes_back_as_it_was(client: Client, name: Any) -> None:
    assert (await client.send(write(id=name), HEADERS)).messages[0]["id"] == name


async def test_a_body_that_is_too_long_is_not_read_to_its_end(stage: Stage) -> None:
    parts_read = 0

    async def receive() -> Any:
        nonlocal parts_read
        parts_read += 1
        return {"type": "http.request", "body": b"a" * 100_000, "more_body": True}

    posting = Client(stage.server).post(b"", {"content-type": "application/json"})
    posting._receive = receive  # type: ignore[method-assign] # fifty megabytes, part by part
    answer = await posting.finish()
    assert (answer.status, answer.code, parts_read) == (413, 413, 11)


async def test_a_body_that_announces_too_much_is_not_read_at_all(client: Client) -> None:
    answer = await client.send(write(), {**HEADERS, "Content-Length": "50000000"})
    assert (answer.status, answer.code) == (413, 413)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
async def test_a_form_of_a_page_is_refused(client: Client, kind: str) -> None:
    answer = await client.send(write(), {**HEADERS, "Content-Type": kind})
    assert (answer.status, answer.code) == (415, 415)


async def test_an_exception_is_told_without_its_detail(client: Client) -> None:
    answer = await client.call("tools/call", {"name": "fail"})
    assert (answer.status, answer.code) == (500, -32603)
    assert b"secret" not in answer.body


@pytest.mark.parametrize("verb", ["GET", "DELETE", "PUT", "OPTIONS"])
async def test_only_posts_are_served(client: Client, verb: str) -> None:
    answer = await client.send(b"", verb=verb)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


async def test_a_client_that_takes_neither_json_nor_streams_is_refused(client: Client) -> None:
    assert (await client.call("tools/list", accept="text/html")).status == 406


@pytest.mark.parametrize(
    ("text", "is_good"),
    [
        ("[" * (DEPTH_MAX - 1) + "]" * (DEPTH_MAX - 1), True),
        ("[" * DEPTH_MAX + "]" * DEPTH_MAX, False),
        ('{"a":' * (DEPTH_MAX - 1) + "0" + "}" * (DEPTH_MAX - 1), True),
        ('{"a":' * DEPTH_MAX + "0" + "}" * DEPTH_MAX, False),
        ('["' + "[" * 500 + '", "\\"[' + "[" * 500 + '"]', True),
        ("[" + "[]," * 2_500 + "[]]", True),
    ],
)
def test_the_depth_of_a_body_is_that_of_its_values(text: str, is_good: bool) -> None:
    body = b'{"a": ' + text.encode() + b"}"
    if is_good:
        assert parse_message(body) == json.loads(body)
    else:
        with pytest.raises(McpError, match="nested more than 64 deep"):
            parse_message(body)


def find_depth(value: Any) -> int:
    if not isinstance(value, list | dict):
        return 0
    return 1 + max(map(find_depth, value.values() if isinstance(value, dict) else value), default=0)


@given(VALUES)
def test_depth_is_measured_as_a_walk_measures_it(value: Any) -> None:
    for depth in range(5):
        assert is_nested_deeper(json.dumps(value).encode(), depth) == (find_depth(value) > depth)


@pytest.mark.parametrize(("count", "is_good"), [(VALUES_MAX - 1, True), (VALUES_MAX, False)])
def test_a_body_has_so_many_values_and_no_more(count: int, is_good: bool) -> None:
    body = b'{"a": [' + b",".join([b'"a,[{"'] * (count - 1)) + b"]}"
    if is_good:
        assert len(parse_message(body)["a"]) == count - 1
    else:
        with pytest.raises(McpError, match="more than 10,000 values"):
            parse_message(body)

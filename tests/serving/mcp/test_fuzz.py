"""Messages of any shape: the answer is JSON-RPC of the revision, within its codes, and repeats the id where it has one."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.domain.mcp_revisions import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    LOG_LEVEL,
    PROTOCOL_VERSION,
    SUPPORTED,
)
from ferryman.serving.mcp import ErrorCode

from .client import Answer, Client
from .servers import TOOLS, Stage

TEXTS = st.text(max_size=12) | st.sampled_from(["", "a", "\x00", "é", "=?base64?YQ==?=", *SUPPORTED, *TOOLS])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=8
)
NAMES = (
    "tools/list",
    "tools/call",
    "tasks/get",
    "server/discover",
    "subscriptions/listen",
    "initialize",
    "ping",
    "notifications/cancelled",
)
META = st.dictionaries(
    st.sampled_from([PROTOCOL_VERSION, CLIENT_INFO, CLIENT_CAPABILITIES, LOG_LEVEL, "progressToken"]), VALUES, max_size=5
)
PARAMS = st.dictionaries(
    st.sampled_from(
        ["name", "arguments", "cursor", "inputResponses", "requestState", "taskId", "notifications", "protocolVersion"]
    ),
    VALUES,
    max_size=4,
)
MEMBERS = {
    "jsonrpc": st.just("2.0") | VALUES,
    "id": st.integers(0, 9) | VALUES,
    "method": st.sampled_from(NAMES) | VALUES,
    "params": st.builds(lambda params, meta: {**params, "_meta": meta}, PARAMS, META | VALUES) | VALUES,
    "result": VALUES,
    "error": VALUES,
}
MESSAGES = st.fixed_dictionaries({}, optional=MEMBERS) | VALUES
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "MCP-Protocol-Version": st.sampled_from([*SUPPORTED, "2099-01-01", "x"]),
        "Mcp-Method": st.sampled_from(NAMES),
        "Mcp-Name": st.sampled_from([*TOOLS, "=?base64?ZWNobw==?=", "=?base64?!?="]),
        "Mcp-Session-Id": st.sampled_from(["", "a", "a.b", "."]),
        "Accept": st.sampled_from(["application/json", "text/event-stream", "*/*", "text/html"]),
    },
)
CODES = {int(code) for code in ErrorCode} | {406}


def check(answer: Answer, message: Any) -> None:
    """Fail unless `answer` is one of the protocol."""
    if answer.status == 202:
        assert answer.body == b""
        return
    last = answer.messages[-1]
    assert last["jsonrpc"] == "2.0"
    assert ("result" in last) != ("error" in last)
    if "error" in last:
        assert last["error"]["code"] in CODES
        assert last["error"]["code"] != ErrorCode.INTERNAL_ERROR or "fail" in json.dumps(message)
    if "id" in last:
        assert last["id"] == message["id"]


@settings(max_examples=400, deadline=None)
@given(message=MESSAGES, headers=HEADERS)
async def test_any_message_is_answered_by_the_protocol(message: Any, headers: dict[str, str]) -> None:
    stage = Stage(listen_s_max=0.0)
    stage.go_on.set()
    check(await Client(stage.server).send(message, headers), message)


@settings(max_examples=200, deadline=None)
@given(params=PARAMS, capabilities=st.dictionaries(TEXTS, VALUES, max_size=3), method=st.sampled_from(NAMES))
async def test_any_parameters_of_a_good_request_are_answered_by_the_protocol(
    params: Any, capabilities: Any, method: str
) -> None:
    stage = Stage(listen_s_max=0.0)
    stage.go_on.set()
    client = Client(stage.server, capabilities=capabilities)
    message = client.build(method, params)
    repeated = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    name = params.get("taskId" if method == "tasks/get" else "name")
    if isinstance(name, str) and name.isascii() and name.isprintable():
        repeated["Mcp-Name"] = name
    check(await client.send(message, repeated), message)


@settings(max_examples=300, deadline=None)
@given(body=st.binary(max_size=200))
async def test_any_bytes_are_answered_by_the_protocol(body: bytes) -> None:
    answer = await Client(Stage().server).send(body)
    assert answer.status == 400
    assert answer.code in (ErrorCode.PARSE_ERROR, ErrorCode.INVALID_REQUEST)

"""Input that a request needs first, tasks, and the state that travels through the client."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from ferryman.serving.mcp import Complete, InputRequired, McpExchange, TaskCreated
from ferryman.serving.mcp.signing import BYTES_MAX
from ferryman.serving.mcp.states import LIFETIME

from .client import Client
from .servers import KEYS, VISIT, Stage


async def ask(client: Client, **more: Any) -> Any:
    return await client.call("tools/call", {"name": "approve", "arguments": {"a": 1}, **more})


async def test_what_is_required_goes_to_the_client_with_a_state(client: Client) -> None:
    result = (await ask(client)).result
    assert (result["resultType"], result["inputRequests"]) == ("input_required", {"a1": VISIT})
    assert "ttlMs" not in result


async def test_the_retry_with_the_state_goes_on(client: Client) -> None:
    state = (await ask(client)).result["requestState"]
    assert (await ask(client, requestState=state)).result["content"][0]["text"] == "approved a1"


async def test_a_client_is_not_asked_for_what_it_does_not_declare(plain: Client) -> None:
    answer = await ask(plain)
    assert (answer.status, answer.code) == (400, -32021)
    assert answer.error["data"] == {"requiredCapabilities": {"elicitation": {"url": {}}}}


@pytest.mark.parametrize(
    ("declared", "mode", "declares"),
    [
        ({}, "form", True),
        ({"form": {}}, "form", True),
        ({"url": {}}, "form", False),
        ({}, "url", False),
        ({"url": True}, "url", False),
    ],
)
def test_an_elicitation_without_modes_is_that_of_forms(declared: Any, mode: str, declares: bool) -> None:
    exchange = McpExchange(caller=None, principal="", id=1, method="x", params={}, capabilities={"elicitation": declared})
    assert exchange.declares("elicitation", mode) is declares


def change_payload(state: str) -> str:
    payload, _, signature = state.partition(".")
    inner = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    inner["value"]["approval"] = "a2"
    return base64.urlsafe_b64encode(json.dumps(inner, separators=(",", ":")).encode()).rstrip(b"=").decode() + "." + signature


@pytest.mark.parametrize(
    "change",
    [
        change_payload,
        lambda state: state[:-1],
        lambda state: state + "=",
        lambda state: state.replace(".", ".."),
        lambda state: state.split(".")[0],
        lambda state: state.split(".")[0] + ".",
        lambda _: "",
        lambda _: "ü",
        lambda _: "a" * (BYTES_MAX + 1),
        lambda _: "a" * 900_000,
        lambda _: "bnVsbA.bnVsbA",
    ],
)
async def test_a_state_that_was_changed_is_refused(client: Client, change: Any) -> None:
    answer = await ask(client, requestState=change((await ask(client)).result["requestState"]))
    assert (answer.status, answer.code) == (400, -32602)


async def test_no_single_bit_of_a_state_may_change(client: Client) -> None:
    state = (await ask(client)).result["requestState"].encode()
    accepted = 0
    for place in range(len(state)):
        for bit in range(7):
            changed = bytearray(state)
            changed[place] ^= 1 << bit
            accepted += (await ask(client, requestState=changed.decode())).status == 200
    assert accepted == 0


async def test_a_state_expires(client: Client, stage: Stage) -> None:
    state = (await ask(client)).result["requestState"]
    stage.clock.turn(LIFETIME - timedelta(seconds=1))
    assert (await ask(client, requestState=state)).status == 200
    stage.clock.turn(1)
    assert (await ask(client, requestState=state)).code == -32602


@pytest.mark.parametrize("change", [{"arguments": {"a": 2}}, {"arguments": {}}, {"extra": 1}])
async def test_a_state_is_of_its_request_alone(client: Client, change: Any) -> None:
    state = (await ask(client)).result["requestState"]
    assert (await ask(client, requestState=state, **change)).code == -32602


async def test_a_state_is_of_its_caller_alone() -> None:
    callers = iter(["ann", "bob"])

    async def authenticate(_: Any, __: bytes) -> str:
        return next(callers)

    client = Client(Stage(authenticate=authenticate).server, capabilities={"elicitation": {"url": {}}})
    state = (await ask(client)).result["requestState"]
    assert (await ask(client, requestState=state)).code == -32602


async def test_a_state_is_no_session(client: Client) -> None:
    client.session = (await ask(client)).result["requestState"]
    assert (await client.call_old("tools/list")).status == 404


async def test_a_session_is_no_state(client: Client) -> None:
    await client.initialize()
    assert (await ask(client, requestState=client.session)).code == -32602


def test_a_state_that_would_be_too_long_is_not_made(stage: Stage) -> None:
    from ferryman.serving.mcp import sign_state

    exchange = McpExchange(caller=None, principal="ann", id=1, method="tools/call", params={})
    with pytest.raises(ValueError, match="8,192"):
        sign_state(exchange, {"a": "b" * BYTES_MAX}, keys=KEYS, now=stage.clock.now())


async def test_a_task_is_for_clients_that_declare_the_extension(client: Client, plain: Client) -> None:
    assert (await client.call("tools/call", {"name": "task"})).result["resultType"] == "task"
    answer = await plain.call("tools/call", {"name": "task"})
    assert (answer.status, answer.code) == (400, -32021)


@pytest.mark.parametrize("method", ["tasks/get"])
async def test_methods_of_tasks_need_the_extension(client: Client, plain: Client, method: str) -> None:
    assert (await client.call(method, {"taskId": "t1"})).result["resultType"] == "complete"
    answer = await plain.call(method, {"taskId": "t1"})
    assert (answer.status, answer.code) == (400, -32021)
    assert answer.error["data"]["requiredCapabilities"] == {"extensions": {"io.modelcontextprotocol/tasks": {}}}


@pytest.mark.parametrize("result", [InputRequired({"a1": VISIT}), TaskCreated({"taskId": "t1"}), InputRequired()])
async def test_other_methods_neither_require_input_nor_create_tasks(client: Client, result: Any) -> None:
    async def answer(_: McpExchange) -> Any:
        return result

    client.server = replace(client.server, methods={"tools/list": answer})
    assert (await client.call("tools/list")).code == -32603


async def test_a_result_that_is_not_json_is_an_error(client: Client) -> None:
    async def answer(_: McpExchange) -> Any:
        return Complete({"tools": [float("nan")]})

    client.server = replace(client.server, methods={"tools/list": answer})
    assert (await client.call("tools/list")).code == -32603


async def test_the_result_of_a_retry_is_not_for_caches(client: Client) -> None:
    async def answer(_: McpExchange) -> Any:
        return Complete({"contents": []}, ttl_ms=60_000, scope="public")

    client.server = replace(client.server, methods={"resources/read": answer})
    first = (await client.call("resources/read", {"uri": "a:b"})).result
    retry = (await client.call("resources/read", {"uri": "a:b", "inputResponses": {"a": {}}})).result
    assert [(result["ttlMs"], result["cacheScope"]) for result in (first, retry)] == [(60_000, "public"), (0, "private")]

"""Failures inside a method, whatever they are: the client has an answer, and learns nothing else."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from ferryman.ports.errors import UnavailableError
from ferryman.serving.mcp import Complete, ErrorCode, McpError, McpExchange

from .client import Answer, Client


async def call(client: Client, failure: BaseException | None = None, result: Any = None, **changes: Any) -> Answer:
    """Call a method that fails so, or has this result."""

    async def answer(_: McpExchange) -> Any:
        if failure is not None:
            raise failure
        return result

    client.server = replace(client.server, methods={"x": answer}, **changes)
    return await client.call("x")


@pytest.mark.parametrize(
    "failure",
    [RuntimeError("secret"), RecursionError("secret"), asyncio.CancelledError("secret"), TimeoutError("secret")],
)
async def test_an_exception_is_an_internal_error(client: Client, failure: BaseException) -> None:
    answer = await call(client, failure)
    assert (answer.status, answer.code, b"secret" in answer.body) == (500, ErrorCode.INTERNAL_ERROR, False)


@pytest.mark.parametrize("result", [None, Complete({"a": datetime.min}), Complete({"a": float("inf")}), Complete({"a": {1}})])
async def test_a_result_that_is_none_is_an_internal_error(client: Client, result: Any) -> None:
    assert (await call(client, result=result)).code == ErrorCode.INTERNAL_ERROR


async def test_an_error_with_data_that_are_no_json_is_an_internal_error(client: Client) -> None:
    assert (await call(client, McpError(-32602, "no", {"a": {1}}))).code == ErrorCode.INTERNAL_ERROR


async def test_an_error_of_translating_an_error_is_an_internal_error(client: Client) -> None:
    def translate(_: Exception, __: McpExchange | None) -> McpError:
        raise RuntimeError("secret")

    answer = await call(client, RuntimeError("first"), translate=translate)
    assert (answer.code, b"secret" in answer.body) == (ErrorCode.INTERNAL_ERROR, False)


async def test_what_is_not_available_says_when_to_come_back(client: Client) -> None:
    answer = await call(client, UnavailableError("busy", after_s=3))
    assert (answer.status, answer.code, answer.headers["retry-after"]) == (503, 503, "3")


async def test_an_error_of_the_protocol_has_its_data_and_status(client: Client) -> None:
    answer = await call(client, McpError(-32602, "no such thing", {"uri": "a:b"}))
    assert (answer.status, answer.error) == (400, {"code": -32602, "message": "no such thing", "data": {"uri": "a:b"}})

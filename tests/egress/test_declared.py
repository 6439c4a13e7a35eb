"""Declared tools on the wire: what their owner wrote goes through the same gate, and what fails is told as an error."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from typing import Any

import pytest

from ferryman.catalog.tools import get_fee
from ferryman.composition.embedded import Embedded
from ferryman.declared import entry, request
from ferryman.domain.calls.call import TRUNCATED, ToolCallResult
from ferryman.domain.http.request import REQUEST_SECONDS
from ferryman.ports.gate import CallPolicy
from tests.egress.conftest import GateHarness, reply
from tests.egress.plants import HOST, VALUES, credential, policy

VALUE = VALUES["prefixed"]
KEY = "{{secrets.NEWS_KEY}}"
STATE = {"date": "2026-03-01", "datetime": "2026-03-01T10:00:00Z", "execution_id": "ex-1", "task_name": "news"}


def write_entry(**fields: Any) -> dict[str, Any]:
    return {"kind": "http", "name": "search", "url": f"https://{HOST}/v1/search", **fields}


async def call(
    harness: GateHarness, *, within_s: float = 5, keys: tuple[str, ...] = ("NEWS_KEY",), **fields: Any
) -> ToolCallResult:
    """Call, without arguments, a tool that these fields declare; return the result."""
    outbound = request.build_request(entry.read(write_entry(**fields), where=""), {}, state=STATE)
    credentials = {name: credential(VALUE, name) for name in keys}
    return await harness.gate(within_s=within_s).send(outbound, CallPolicy(execution=policy(), credentials=credentials))


def head(harness: GateHarness) -> dict[str, str]:
    """Return the headers that the last request had, by their names in small letters."""
    lines = harness.requests[-1][1].partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    return {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"])
async def test_each_method_goes_out(harness: GateHarness, method: str) -> None:
    async with harness.serve(HOST, reply(b"" if method == "HEAD" else b"{}")):
        result = await call(harness, method=method)
    assert harness.requests[0][1].startswith(f"{method} /v1/search HTTP/1.1\r\n".encode())
    assert (result.response_status, get_fee(result)) == (200, 0)


async def test_a_secret_goes_into_the_header_that_names_it_and_nowhere_else(harness: GateHarness) -> None:
    async with harness.serve(HOST, reply()):
        result = await call(harness, headers={"X-Api-Key": KEY, "X-Day": "{{date}}"})
    assert (head(harness)["x-api-key"], head(harness)["x-day"]) == (VALUE, "2026-03-01")
    assert (result.credential_used, get_fee(result)) == ("NEWS_KEY", Decimal("0.5"))
    assert VALUE not in str(result) + str(harness.log.lines)


async def test_a_secret_that_is_not_there_is_an_error_and_nothing_is_sent(harness: GateHarness) -> None:
    result = await call(harness, headers={"X-Api-Key": "a {{secrets.OTHER_KEY}}"})
    assert result.content == "Error: credential 'OTHER_KEY' not found. Check your task's credential configuration."
    assert (result.block_reason, harness.dialer.dialled) == ("credential_not_found", [])


async def test_a_secret_does_not_go_to_a_host_it_is_not_for(harness: GateHarness) -> None:
    result = await call(harness, url="https://other.wild.test/", headers={"X-Api-Key": KEY})
    assert (result.block_reason, harness.dialer.dialled) == ("credential_host_mismatch", [])


async def test_an_entry_sends_the_same_hosted_and_embedded(harness: GateHarness) -> None:
    fields = {"url": f"https://{HOST}/v1/{{a}}{{?b}}", "method": "POST", "params": {"a": "x y", "b": 7}, "body": {"c": "d"}}
    tools = Embedded.declare(
        [write_entry(**fields, headers={"X-Api-Key": "{{env.NEWS_KEY}}"})],
        env={"NEWS_KEY": VALUE},
        gate=harness.gate(),
        log=harness.log,
    )
    async with harness.serve(HOST, reply()):
        hosted = await call(harness, **fields, headers={"X-Api-Key": KEY})
        embedded = await tools.call("search", {})
    assert harness.requests[0] == harness.requests[1]
    assert hosted.content == embedded.content


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
@pytest.mark.parametrize(
    ("declaration", "media", "sent"),
    [
        ({}, "application/json", b'{"a":"x y","n":1}'),
        ({"body_type": "form"}, "application/x-www-form-urlencoded", b"a=x+y&n=1"),
        ({"headers": {"Content-Type": "application/vnd.api+json"}}, "application/vnd.api+json", b'{"a":"x y","n":1}'),
    ],
    ids=["json", "form", "named"],
)
async def test_a_body_goes_out_as_its_type_says(
    harness: GateHarness, method: str, declaration: dict[str, Any], media: str, sent: bytes
) -> None:
    async with harness.serve(HOST, reply()):
        await call(harness, method=method, body={"a": "x y", "n": 1}, **declaration)
    assert harness.requests[0][1].partition(b"\r\n\r\n")[2] == sent
    assert head(harness)["content-type"] == media


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_a_body_of_type_query_goes_out_in_the_query_and_nowhere_else(harness: GateHarness, method: str) -> None:
    async with harness.serve(HOST, reply()):
        await call(harness, method=method, url=f"https://{HOST}/v1?z=1", body_type="query", body={"a": "x y&b", "n": [1, 2]})
    first, _, rest = harness.requests[0][1].partition(b"\r\n")
    assert first == f"{method} /v1?z=1&a=x%20y%26b&n=1&n=2 HTTP/1.1".encode()
    assert rest.partition(b"\r\n\r\n")[2] == b""
    assert "content-type" not in head(harness)


@pytest.mark.parametrize("status", ["301 Moved Permanently", "404 Not Found", "500 Internal Server Error"])
async def test_what_is_not_2xx_is_an_error_with_its_body(harness: GateHarness, status: str) -> None:
    async with harness.serve(HOST, reply(b"why", status=status, headers=["location: https://other.wild.test/"])):
        result = await call(harness)
    assert result.content.startswith(f"Error: HTTP {status} -- ")
    assert result.content.endswith(">why</tool_response>")
    assert (result.ok, result.blocked, len(harness.requests)) == (False, False, 1)


async def test_a_status_that_is_declared_to_be_none_is_no_error(harness: GateHarness) -> None:
    async with harness.serve(HOST, reply(b"none", status="404 Not Found")):
        result = await call(harness, ok_statuses=[200, 404])
    assert result.content.startswith("<tool_response")
    assert (result.ok, result.response_status) == (True, 404)


@pytest.mark.parametrize("form", ["JSON", "text"])
async def test_the_body_of_an_error_is_redacted_before_it_is_cut(form: str, harness: GateHarness) -> None:
    log = "x" * 49_970 + VALUE + "y" * 10_000
    body = (json.dumps({"log": log}) if form == "JSON" else log).encode()
    async with harness.serve(HOST, reply(body, status="500 Internal Server Error")):
        result = await call(harness)
    assert result.content.startswith("Error: HTTP 500 Internal Server Error -- ")
    assert TRUNCATED in result.content
    assert VALUE[:12] not in result.content


async def test_it_is_over_after_thirty_seconds_like_any_call(harness: GateHarness) -> None:
    async def silent(_: bytes, __: Any) -> None:
        await asyncio.Event().wait()

    async with harness.serve(HOST, silent):
        result = await call(harness, within_s=0.3)
    assert result.content.startswith("Error: request timed out (")
    assert (result.ok, REQUEST_SECONDS) == (False, 30)

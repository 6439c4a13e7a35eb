"""Every tool passes the same gate: there is no way around a layer for any of the four."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import REQUEST_SECONDS, OutboundRequest
from ferryman.domain.owners.plan import GURU
from ferryman.ports.gate import CallPolicy
from ferryman.tools.http import PARSERS
from tests.egress.conftest import PUBLIC, GateHarness, reply
from tests.egress.plants import VALUES, credential, policy

VALUE = VALUES["prefixed"]
KEYS = {"NEWS_KEY": credential(VALUE)}
TOOL_NAMES = list(PARSERS)
pytestmark = pytest.mark.parametrize("tool", TOOL_NAMES)


def build_request(tool: str, url: str = "https://api.news.test/v1", **more: Any) -> OutboundRequest:
    """Parse arguments as a model would write them by the tool's own parser."""
    needed: dict[str, Any] = {"url": url}
    if tool == "api_call":
        needed |= {"method": "GET", "credential": "NEWS_KEY"}
    if tool in ("http_post", "webhook"):
        needed |= {"body": {"text": "hello"}}
    return PARSERS[tool]({**needed, **more})


def registered(*urls: str) -> ExecutionPolicy:
    """Return a policy whose webhooks are these, beside its usual domains."""
    return policy(webhook=True, webhook_urls=urls or ("https://api.news.test/v1",))


async def send(
    harness: GateHarness, outbound: OutboundRequest, allowed: ExecutionPolicy | None = None, **gate: Any
) -> ToolCallResult:
    return await harness.gate(**gate).send(outbound, CallPolicy(execution=allowed or registered(), credentials=KEYS))


async def test_a_plain_http_url_is_refused(tool: str, harness: GateHarness) -> None:
    result = await send(harness, build_request(tool, "http://api.news.test/v1"))
    assert result.content == "Error: URL blocked -- only https:// URLs are allowed"


async def test_a_host_nobody_approved_is_refused(tool: str, harness: GateHarness) -> None:
    result = await send(harness, build_request(tool, "https://evil.test/"))
    reason = "webhook_not_registered" if tool == "webhook" else "url_blocked"
    assert (result.block_reason, harness.names.lookups) == (reason, [])
    why = "webhook URL not registered" if tool == "webhook" else "Domain evil.test not in any approved integration"
    assert why in result.content


@pytest.mark.parametrize("addresses", [["169.254.169.254"], [PUBLIC, "10.0.0.1"]], ids=["alone", "beside a public one"])
async def test_a_name_with_a_private_address_is_refused_at_every_call(
    tool: str, addresses: list[str], harness: GateHarness
) -> None:
    harness.names.table = {"api.news.test": addresses}
    result = await send(harness, build_request(tool))
    assert result.content == "Error: DNS resolution failed or blocked for api.news.test"
    assert (result.block_reason, harness.dialer.dialled) == ("dns_validation_failed", [])


async def test_a_name_that_does_not_resolve_is_refused(tool: str, harness: GateHarness) -> None:
    harness.names.table = {}
    assert (await send(harness, build_request(tool))).block_reason == "dns_validation_failed"


async def test_a_key_in_the_request_is_refused_and_logged(tool: str, harness: GateHarness) -> None:
    result = await send(harness, build_request(tool, f"https://api.news.test/v1?q={VALUE}"))
    assert result.content == "Error: Blocked -- Credential NEWS_KEY detected in outbound request. This has been logged."
    assert (harness.names.lookups, harness.log.lines[-1][1]["reason"]) == ([], "credential_leak")


async def test_the_answer_is_framed_and_measured(tool: str, harness: GateHarness) -> None:
    async with harness.serve("api.news.test", reply(b"news")):
        result = await send(harness, build_request(tool))
    assert result.content == '<tool_response id="n0" truncated="false" status="200">news</tool_response>'
    assert (result.response_status, result.response_size_bytes, result.blocked) == (200, 4, False)
    assert result.latency_ms is not None
    assert result.latency_ms > 0


async def test_an_answer_larger_than_the_plan_is_cut_and_its_raw_size_told(tool: str, harness: GateHarness) -> None:
    allowed = replace(registered(), plan=replace(GURU, response_bytes=20_000))
    async with harness.serve("api.news.test", reply(b"x" * 30_000)):
        result = await send(harness, build_request(tool), allowed)
    assert result.response_size_bytes == 30_000
    assert (
        result.content == f'<tool_response id="n0" truncated="true" status="200">{"x" * 20_000}... (truncated)</tool_response>'
    )


async def test_only_the_authenticated_tool_sends_the_key(tool: str, harness: GateHarness) -> None:
    async with harness.serve("api.news.test", reply()):
        result = await send(harness, build_request(tool))
    has_key = VALUE.encode() in harness.requests[0][1]
    assert has_key == (tool == "api_call")
    assert result.credential_used == ("NEWS_KEY" if has_key else None)


async def test_a_body_is_sent_as_json(tool: str, harness: GateHarness) -> None:
    async with harness.serve("api.news.test", reply()):
        await send(harness, build_request(tool))
    posted = b"content-type: application/json" in harness.requests[0][1].lower()
    assert posted == (tool in ("http_post", "webhook"))
    assert harness.requests[0][1].startswith(b"POST" if posted else b"GET")


async def test_a_request_that_takes_too_long_says_so(tool: str, harness: GateHarness) -> None:
    async def silent(_: bytes, __: Any) -> None:
        import asyncio

        await asyncio.sleep(60)

    async with harness.serve("api.news.test", silent):
        result = await send(harness, build_request(tool), within_s=1)
    assert (result.content, result.blocked) == ("Error: request timed out (1s)", False)
    assert REQUEST_SECONDS == 30

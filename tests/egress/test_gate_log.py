"""The gate's line in the log: one for each call, with what operators look for and nothing of the texts."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.egress.gate import EgressGate
from ferryman.ports.gate import CallPolicy
from tests.egress.conftest import GateHarness, reply
from tests.egress.plants import VALUES, credential, outbound, policy

VALUE, OTHER = VALUES["prefixed"], VALUES["github"]
KEYS = {"NEWS_KEY": credential(VALUE), "OTHER": credential(OTHER, "OTHER", hosts=("a.wild.test",))}
URL = "https://api.news.test/v1/items?page=1"
LINE = {
    **{"call": "c1", "tool": "api_call", "url": "https://api.news.test/v1/items", "method": "POST", "credential": "NEWS_KEY"},
    **{"status": None, "size_bytes": None, "latency_ms": 1.235, "blocked": False},
    **{"reason": None, "leaked": None, "fault": None},
}
"""A call of which nothing came back. Its URL is logged without the query, in which people put keys."""


@pytest.fixture
def gate(harness: GateHarness) -> EgressGate:
    """Return a gate whose clock is read twice."""
    ticks = iter((10.0, 10.0012346))
    return replace(harness.gate(), clock=lambda: next(ticks))


def allow(**fields: Any) -> CallPolicy:
    return CallPolicy(**{"execution": policy(), "credentials": KEYS, "about": {"call": "c1"}, **fields})


async def test_a_call_that_was_answered_is_one_line(gate: EgressGate, harness: GateHarness) -> None:
    async with harness.serve("api.news.test", reply()):
        result = await gate.send(outbound(), allow())
    assert harness.log.lines == [("call", {**LINE, "status": 200, "size_bytes": 11})]
    assert result.latency_ms == 1.235


async def test_a_call_that_failed_is_one_line(gate: EgressGate, harness: GateHarness) -> None:
    await gate.send(outbound(), allow())
    assert harness.log.lines == [("call", LINE)]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"body": {"a": OTHER}}, {"reason": "credential_leak", "leaked": "OTHER"}),
        ({"credential": "OTHER"}, {"reason": "credential_host_mismatch", "credential": "OTHER"}),
        ({"credential": "NONE"}, {"reason": "credential_not_found", "credential": None}),
        ({"url": f"http://{VALUE}/"}, {"reason": "url_blocked", "url": "http://[redacted:NEWS_KEY]/"}),
    ],
)
async def test_a_call_that_was_refused_is_one_line(
    fields: dict[str, object], line: dict[str, object], gate: EgressGate, harness: GateHarness
) -> None:
    await gate.send(outbound(**fields), allow())
    assert harness.log.lines == [("call", {**LINE, "blocked": True, **line})]


@pytest.mark.parametrize("url", ["https://api.news.test/v1/{}", "https://API.news.test/{}/in", "http://api.news.test/{}"])
async def test_the_path_of_a_webhook_s_address_is_in_no_line(url: str, gate: EgressGate, harness: GateHarness) -> None:
    path = "T0a1B2c3D4e5F6g7"
    hooks = policy(webhook_urls=(f"https://api.news.test/services/{path}",))
    async with harness.serve("api.news.test", reply()):
        await gate.send(outbound(url=url.format(path)), allow(execution=hooks))
    assert harness.log.lines[0][1]["url"] == f"{url.partition(':')[0]}://api.news.test"
    assert path not in repr(harness.log.lines)


async def test_a_response_for_the_system_itself_is_one_line(gate: EgressGate, harness: GateHarness) -> None:
    async with harness.serve("api.news.test", reply(VALUE.encode())):
        inbound = await gate.fetch(outbound(tool="http_get", credential=None), allow())
    assert (inbound.status, inbound.body, inbound.size_bytes, inbound.cut) == (200, VALUE.encode(), len(VALUE), False)
    answered = {"tool": "http_get", "credential": None, "status": 200, "size_bytes": len(VALUE)}
    assert harness.log.lines == [("call", {**LINE, **answered})]


async def test_a_request_of_the_system_s_own_that_is_refused_is_one_line(gate: EgressGate, harness: GateHarness) -> None:
    with pytest.raises(CallRefusedError) as refused:
        await gate.fetch(outbound(url=f"https://{VALUE}.wild.test/", credential="NONE"), allow())
    assert refused.value.refusal == refusal.refuse_unknown_credential("NONE")
    blocked = {"url": None, "credential": None, "blocked": True, "reason": "credential_not_found"}
    assert harness.log.lines == [("call", {**LINE, **blocked})]


async def test_a_refusal_for_the_system_itself_repeats_no_key(gate: EgressGate) -> None:
    with pytest.raises(CallRefusedError) as refused:
        await gate.fetch(outbound(url=f"https://{VALUE}.test/"), allow())
    expected = refusal.refuse_host("[redacted:NEWS_KEY].test", ("api.news.test", "*.wild.test"))
    assert refused.value.refusal == expected


async def test_the_limits_of_a_call_are_below_those_of_the_gate(harness: GateHarness) -> None:
    async with harness.serve("api.news.test", reply(b"b" * 100)):
        inbound = await harness.gate().fetch(outbound(), allow(body_max=40))
    assert (inbound.body, inbound.cut, inbound.size_bytes) == (b"b" * 40, True, 100)


@pytest.mark.parametrize(("call_s", "gate_s"), [(0.02, 5), (5, 0.02)])
async def test_the_shorter_deadline_ends_a_call(call_s: float, gate_s: float, harness: GateHarness) -> None:
    class Endless:
        async def resolve(self, _: str, *, owner: str) -> Any:
            await asyncio.Event().wait()

    harness.names = Endless()  # type: ignore[assignment]  # a name table of another kind
    result = await harness.gate(within_s=gate_s).send(outbound(), allow(within_s=call_s))
    assert result.block_reason == "timed_out"


async def test_a_request_is_prepared_with_its_addresses_and_nothing_is_dialled(harness: GateHarness) -> None:
    ready = await harness.gate().prepare(outbound(), allow())
    assert (ready.url, [str(address) for address in ready.addresses]) == (URL, ["25.0.0.9"])
    assert dict(ready.prepared.headers)["authorization"] == f"Bearer {VALUE}"
    assert VALUE not in repr(ready)
    assert not harness.dialer.dialled


async def test_an_address_is_looked_up_for_the_owner_of_the_execution(harness: GateHarness) -> None:
    owners = []

    class Names:
        async def resolve(self, _: str, *, owner: str) -> Any:
            owners.append(owner)
            return ()

    harness.names = Names()  # type: ignore[assignment]  # a name table of another kind
    await harness.gate().send(outbound(), allow(execution=policy(owner="ann")))
    assert owners == ["ann"]


def test_the_frame_of_a_result_is_called_by_64_random_bits(harness: GateHarness) -> None:
    fields = {name: getattr(harness.gate(), name) for name in ("names", "dial", "tls", "tracer")}
    names = {EgressGate(**fields).nonce() for _ in range(8)}
    assert (len(names), {len(name) for name in names}) == (8, {16})

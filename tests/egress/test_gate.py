"""The gate: the order of its checks, and what it makes of everything."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from urllib.parse import quote

import httpcore
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ferryman.catalog.tools import TOOLS, get_fee
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import AuthType, Credential
from ferryman.domain.executions.policy import ExecutionPolicy, ServiceHeaders
from ferryman.domain.http.address import Address
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.egress import on_loop
from ferryman.egress.checks import prepare_request
from ferryman.ports.gate import CallPolicy
from tests.egress.conftest import GateHarness, reply
from tests.egress.plants import NOTATIONS, VALUES, credential, outbound, policy, text

VALUE = VALUES["prefixed"]
OTHER = text(40)
CREDENTIALS = {
    "NEWS_KEY": credential(VALUE),
    "OTHER": credential(OTHER, "OTHER", hosts=("other.wild.test",)),
}
BAD = {
    "credential": {"credential": None},
    "url": {"url": "https://evil.test/"},
    "not found": {"credential": "NONE"},
    "binding": {"credential": "OTHER"},
    "leak": {"body": {"a": OTHER}},
    "headers": {"headers": {"Host": "evil.test"}},
}
REASONS = {
    "credential": "missing_credential",
    "url": "url_blocked",
    "not found": "credential_not_found",
    "binding": "credential_host_mismatch",
    "leak": "credential_leak",
    "headers": "header_forbidden",
}


async def refuse(
    harness: GateHarness, request: OutboundRequest, credentials: dict[str, Credential] = CREDENTIALS
) -> str | None:
    result = await harness.gate().send(request, CallPolicy(execution=policy(), credentials=credentials))
    assert not harness.dialer.dialled
    assert result.blocked
    return result.block_reason


@pytest.mark.parametrize("first", list(BAD))
async def test_of_several_faults_the_first_in_the_order_wins(first: str, harness: GateHarness) -> None:
    order = list(BAD)
    faults: dict[str, object] = {}
    for name in reversed(order[order.index(first) :]):
        faults |= BAD[name]
    assert await refuse(harness, outbound(**faults)) == REASONS[first]
    assert not harness.names.lookups


FORMS: dict[str, Callable[[str], str]] = {
    "plaintext": lambda value: value,
    "base64": NOTATIONS["base64"],
    "URL-encoded": NOTATIONS["percent"],
}
PLACES: dict[str, Callable[[str], dict[str, object]]] = {
    "URL path": lambda written: {"url": f"https://api.news.test/v1/{quote(written, safe='%')}"},
    "URL query": lambda written: {"url": f"https://api.news.test/v1?q={quote(written, safe='%')}"},
    "query_params": lambda written: {"query_params": {"q": written}},
    "body": lambda written: {"body": {"q": written}},
    "custom header": lambda written: {"headers": {"accept": written}},
}


@pytest.mark.parametrize("value", [VALUE, OTHER], ids=["the credential that is named", "another of the task"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", PLACES)
def test_no_credential_of_the_task_leaves_in_any_place_or_form(place: str, form: str, value: str) -> None:
    with pytest.raises(CallRefusedError) as caught:
        prepare_request(outbound(**PLACES[place](FORMS[form](value))), CREDENTIALS, policy())
    assert caught.value.refusal.reason == "credential_leak"


async def test_the_credential_that_is_named_is_the_one_that_is_sent(harness: GateHarness) -> None:
    keys = {"NEWS_KEY": credential(VALUE), "SECOND": credential(OTHER, "SECOND")}
    async with harness.serve("api.news.test", reply()):
        result = await harness.gate().send(outbound(credential="SECOND"), CallPolicy(execution=policy(), credentials=keys))
    assert f"authorization: Bearer {OTHER}\r\n".encode() in harness.requests[0][1]
    assert (result.credential_used, VALUE.encode() in harness.requests[0][1]) == ("SECOND", False)


async def test_a_private_address_is_refused_after_all_else(harness: GateHarness) -> None:
    keys = {"NEWS_KEY": credential(VALUE, hosts=("*.wild.test",))}
    request = outbound(url="https://private.wild.test/")
    assert await refuse(harness, request, keys) == "dns_validation_failed"
    assert harness.names.lookups == ["private.wild.test"]


@pytest.mark.parametrize("name", ["token", "token_1", "former_token", "NEWS_KEY.former.1.0"])
async def test_a_call_cannot_name_what_is_there_to_be_looked_for_alone(name: str, harness: GateHarness) -> None:
    beside = {**CREDENTIALS, name: credential(text(41), "NEWS_KEY")}
    assert await refuse(harness, outbound(credential=name), beside) == "credential_not_found"


OURS, THEIRS = "api.news.test", "a.wild.test"
NAMED = ("News-Version", "Wild-Version")
BOTH = (
    ServiceHeaders(domains=(OURS,), names=("News-Version",)),
    ServiceHeaders(domains=("*.wild.test",), names=("Wild-Version",)),
)


def reason_of(outbound: OutboundRequest, policy: ExecutionPolicy) -> str | None:
    """Return why the request is refused before a name is looked up, if it is."""
    try:
        prepare_request(outbound, {}, policy)
    except CallRefusedError as error:
        return error.refusal.reason
    return None


def test_a_header_of_one_service_is_refused_towards_another() -> None:
    requests = {
        (host, header): outbound(tool="http_get", url=f"https://{host}/", headers={header: "1"}, credential=None)
        for host in (OURS, THEIRS)
        for header in NAMED
    }
    reasons = {name: reason_of(request, policy(headers=BOTH)) for name, request in requests.items()}
    blocked = {name for name, reason in reasons.items() if reason == "header_forbidden"}
    assert blocked == {(OURS, "Wild-Version"), (THEIRS, "News-Version")}
    assert set(reasons.values()) == {None, "header_forbidden"}


def test_a_webhook_has_no_service_s_headers() -> None:
    request = outbound(tool="webhook", headers={"News-Version": "1"}, credential=None)
    execution = policy(headers=BOTH, webhook=True, webhook_urls=(f"https://{OURS}/v1/items?page=1",))
    assert reason_of(request, execution) == "header_forbidden"


async def test_the_answer_comes_back_framed_and_the_key_only_went_out(harness: GateHarness) -> None:
    async with harness.serve("api.news.test", reply()):
        result = await harness.gate().send(outbound(), CallPolicy(execution=policy(), credentials=CREDENTIALS))
    assert result.content == '<tool_response id="n0" truncated="false" status="200">{"ok":true}</tool_response>'
    assert (result.response_status, result.response_size_bytes, result.blocked) == (200, 11, False)
    assert (result.credential_used, result.url, result.method) == ("NEWS_KEY", "https://api.news.test/v1/items?page=1", "POST")
    assert result.tool == "api_call"
    sent = harness.requests[0][1]
    assert sent.count(VALUE.encode()) == 1
    assert f"authorization: Bearer {VALUE}\r\n".encode() in sent
    assert VALUE not in repr(result) + repr(harness.log.lines)
    assert len(harness.log.lines) == 1


async def test_an_upstream_that_echoes_the_key_shows_a_redaction(harness: GateHarness) -> None:
    for notation, write in NOTATIONS.items():
        async with harness.serve("api.news.test", reply(f'{{"you": "{write(VALUE)}"}}'.encode())):
            result = await harness.gate().send(outbound(), CallPolicy(execution=policy(), credentials=CREDENTIALS))
        assert "[redacted:NEWS_KEY]" in result.content, notation
        assert VALUE not in result.content


async def test_the_error_of_an_upstream_is_its_body(harness: GateHarness) -> None:
    async with harness.serve("api.news.test", reply(b"no such thing", status="404 Not Found")):
        result = await harness.gate().send(outbound(), CallPolicy(execution=policy(), credentials=CREDENTIALS))
    assert (result.response_status, result.blocked) == (404, False)
    assert ">no such thing<" in result.content


async def test_a_parameter_credential_is_not_in_the_record(harness: GateHarness) -> None:
    keys = {"NEWS_KEY": credential(VALUE, kind=AuthType.QUERY_PARAM, auth_param_name="appid")}
    async with harness.serve("api.news.test", reply()):
        result = await harness.gate().send(
            outbound(query_params={"q": "a b"}), CallPolicy(execution=policy(), credentials=keys)
        )
    assert f"POST /v1/items?page=1&q=a%20b&appid={VALUE} HTTP/1.1\r\n".encode() in harness.requests[0][1]
    assert result.url == "https://api.news.test/v1/items?page=1"


async def test_a_tool_without_authentication_sends_no_credential(harness: GateHarness) -> None:
    async with harness.serve("api.news.test", reply()):
        request = outbound(tool="http_get", method=Method.GET, body=None)
        result = await harness.gate().send(request, CallPolicy(execution=policy(), credentials=CREDENTIALS))
    assert result.response_status == 200
    assert b"authorization" not in harness.requests[0][1].lower()


@pytest.mark.parametrize("place", ["url", "credential", "host"])
async def test_a_key_in_a_refused_call_is_not_repeated(place: str, harness: GateHarness) -> None:
    requests = {
        "url": outbound(url=f"http://api.news.test/{VALUE}"),
        "credential": outbound(credential=VALUE.replace("-", "_")),
        "host": outbound(url=f"https://{VALUES['hex']}.evil.test/"),
    }
    keys = {**CREDENTIALS, "HEX": credential(VALUES["hex"], "HEX")}
    result = await harness.gate().send(requests[place], CallPolicy(execution=policy(), credentials=keys))
    assert result.blocked
    for value in (VALUE, VALUE.replace("-", "_"), VALUES["hex"]):
        assert value not in repr(result) + result.content + repr(harness.log.lines)


async def test_the_line_of_a_leak_says_which_credential(harness: GateHarness) -> None:
    assert await refuse(harness, outbound(body={"a": OTHER})) == "credential_leak"
    assert harness.log.lines[-1][1]["leaked"] == "OTHER"
    assert await refuse(harness, outbound(credential="OTHER")) == "credential_host_mismatch"
    assert harness.log.lines[-1][1]["leaked"] is None


async def test_the_line_holds_what_the_caller_says_about_the_call_beside_what_the_gate_says(harness: GateHarness) -> None:
    about = {"execution": "e1", "seq": 3, "blocked": False}
    await harness.gate().send(
        outbound(url="https://evil.test/"), CallPolicy(execution=policy(), credentials=CREDENTIALS, about=about)
    )
    _, line = harness.log.lines[-1]
    assert (line["execution"], line["seq"], line["blocked"]) == ("e1", 3, True)


class Broken:
    """Names and dialer with a fault of ours in them."""

    def __init__(self, fault: Exception) -> None:
        self.fault = fault

    async def resolve(self, _: str, *, owner: str) -> Sequence[Address]:
        raise self.fault

    async def dial(self, _: Address, __: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
        raise self.fault


async def test_a_fault_before_anything_is_dialled_is_blocked_and_costs_nothing(harness: GateHarness) -> None:
    harness.names = Broken(RuntimeError(VALUE))  # type: ignore[assignment]  # a name table of another kind
    result = await harness.gate().send(outbound(), CallPolicy(execution=policy(), credentials=CREDENTIALS))
    assert (result.content, result.block_reason) == ("Error: request failed: an internal fault", "internal_fault")
    assert (result.credential_used, get_fee(result)) == ("NEWS_KEY", Decimal(0))
    assert harness.log.lines[-1][1]["fault"] == "RuntimeError"
    assert VALUE not in repr(harness.log.lines)


async def test_a_fault_after_dialling_may_have_sent_something(harness: GateHarness) -> None:
    harness.dialer = Broken(RuntimeError(VALUE))  # type: ignore[assignment]  # a dialer of another kind
    result = await harness.gate().send(outbound(), CallPolicy(execution=policy(), credentials=CREDENTIALS))
    assert (result.content, result.blocked) == ("Error: request failed: an internal fault", False)
    assert get_fee(result) > 0


async def test_a_deadline_that_passes_before_anything_is_dialled_is_blocked_and_costs_nothing(harness: GateHarness) -> None:
    class Endless:
        async def resolve(self, _: str, *, owner: str) -> Sequence[Address]:
            await asyncio.Event().wait()
            return ()

    harness.names = Endless()  # type: ignore[assignment]  # a name table of another kind
    result = await harness.gate(within_s=0.02).send(outbound(), CallPolicy(execution=policy(), credentials=CREDENTIALS))
    assert (result.content, result.block_reason) == ("Error: request timed out (0.02s)", "timed_out")
    assert (result.credential_used, get_fee(result)) == ("NEWS_KEY", Decimal(0))


async def test_every_step_may_take_as_long_as_the_whole_call_and_says_so(harness: GateHarness) -> None:
    timeouts = []

    class SlowDialer:
        async def dial(self, _: Address, __: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
            timeouts.append(timeout_s)
            raise httpcore.ConnectTimeout

    harness.dialer = SlowDialer()  # type: ignore[assignment]  # a dialer of another kind
    result = await harness.gate(within_s=45).send(outbound(), CallPolicy(execution=policy(), credentials=CREDENTIALS))
    assert (timeouts, result.content, result.blocked) == ([45], "Error: request timed out (45s)", False)


def change_tool(monkeypatch: pytest.MonkeyPatch, **fields: object) -> None:
    """Have the catalog say something else about api_call."""
    tool = TOOLS["api_call"]
    monkeypatch.setitem(TOOLS, "api_call", replace(tool, policy=replace(tool.policy, **fields)))  # type: ignore[arg-type]


async def test_a_tool_s_own_time_limit_is_kept_and_named(harness: GateHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless:
        async def resolve(self, _: str, *, owner: str) -> Sequence[Address]:
            await asyncio.Event().wait()
            return ()

    harness.names = Endless()  # type: ignore[assignment]  # a name table of another kind
    change_tool(monkeypatch, timeout_s=0.02)
    result = await harness.gate(within_s=45).send(outbound(), CallPolicy(execution=policy(), credentials=CREDENTIALS))
    assert result.content == "Error: request timed out (0.02s)"


async def test_a_tool_s_own_limit_of_its_result_is_kept_within_the_frame(
    harness: GateHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    change_tool(monkeypatch, result_characters_max=10)
    on_loop.forget_pauses()  # a worker does not know what was changed
    async with harness.serve("api.news.test", reply(b"0123456789abc")):
        result = await harness.gate().send(outbound(), CallPolicy(execution=policy(), credentials=CREDENTIALS))
    assert result.content.endswith(">0123456789... (truncated)</tool_response>")
    assert 'truncated="true"' in result.content


@pytest.mark.parametrize(
    ("enabled", "urls", "match", "url", "reason"),
    [
        (False, ("https://hooks.test/a",), "host", "https://hooks.test/a", "webhook_not_enabled"),
        (True, ("https://hooks.test/a",), "host", "https://evil.test/a", "webhook_not_registered"),
        (True, ("https://hooks.test/a",), "host", "https://hooks.test/other", "dns_validation_failed"),
        (True, ("https://hooks.test/a",), "url", "https://hooks.test/a", "dns_validation_failed"),
        (True, ("https://hooks.test/a",), "url", "https://hooks.test/a/", "webhook_not_registered"),
        (True, ("https://hooks.test/a",), "url", "https://hooks.test/a?x", "webhook_not_registered"),
        (True, ("https://hooks.test/a?x",), "url", "https://hooks.test/a?x", "dns_validation_failed"),
        (True, ("https://hooks.test/b/../a",), "url", "https://hooks.test/b/../a", "webhook_not_registered"),
        (True, ("https://hooks.test/b/%2E%2e/a",), "url", "https://hooks.test/b/%2E%2e/a", "webhook_not_registered"),
        (True, ("https://hooks.test/a",), "url", "https://HOOKS.test:443/a#f", "dns_validation_failed"),
        (True, (), "host", "https://api.news.test/", "webhook_not_registered"),
    ],
)
async def test_a_webhook_answers_to_what_the_task_registered(
    enabled: bool, urls: tuple[str, ...], match: str, url: str, reason: str, harness: GateHarness
) -> None:
    request = outbound(tool="webhook", url=url, headers={}, credential=None)
    allowed = policy(webhook=enabled, webhook_urls=urls, webhook_match=match)
    result = await harness.gate().send(request, CallPolicy(execution=allowed, credentials=CREDENTIALS))
    assert result.block_reason == reason


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    url=st.text() | st.just("https://api.news.test/").flatmap(lambda base: st.text().map(lambda tail: base + tail)),
    headers=st.dictionaries(st.text(), ANYTHING, max_size=3),
    params=st.dictionaries(st.text(), ANYTHING, max_size=3),
    body=st.none() | st.dictionaries(st.text(), ANYTHING, max_size=3),
    name=st.text() | st.just("NEWS_KEY"),
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_whatever_the_model_writes_is_a_result(
    url: str,
    headers: dict[str, str],
    params: dict[str, object],
    body: dict[str, object] | None,
    name: str,
    harness: GateHarness,
) -> None:
    request = outbound(url=url, headers=headers, query_params=params, body=body, credential=name)
    result = await harness.gate().send(request, CallPolicy(execution=policy(), credentials=CREDENTIALS))
    assert result.content.startswith("Error:")
    assert harness.log.lines[-1][1]["fault"] is None


@given(
    host=st.sampled_from(["api.news.test", "other.wild.test", "a.wild.test", "evil.test"]),
    name=st.sampled_from(["NEWS_KEY", "OTHER"]),
    patterns=st.lists(st.sampled_from(["api.news.test", "other.wild.test", "*.wild.test", "evil.test"]), max_size=2),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_no_credential_goes_to_a_host_it_is_not_for(
    host: str, name: str, patterns: list[str], harness: GateHarness
) -> None:
    keys = {"NEWS_KEY": credential(VALUE, hosts=tuple(patterns)), "OTHER": CREDENTIALS["OTHER"]}
    harness.requests.clear()
    async with harness.serve(host, reply()):
        await harness.gate().send(
            outbound(url=f"https://{host}/", credential=name), CallPolicy(execution=policy(), credentials=keys)
        )
    for served, request in harness.requests:
        hosts = keys[name].label.hosts
        assert served in hosts or f"*.{served.partition('.')[2]}" in hosts
        assert keys[name].secret.reveal().encode() in request

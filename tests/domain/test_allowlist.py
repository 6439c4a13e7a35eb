"""The allowlist: which URLs a tool may call, and what the model is told of the others."""

from __future__ import annotations

import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError, Refusal
from ferryman.domain.executions.allowlist import check_url
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.network import NetworkPolicy
from tests.builders import build_policy

HOOK = "https://hooks.test/registered?key=1"
POLICY = build_policy(domains=("api.news.test", "*.wild.test"), webhook=True, webhook_urls=(HOOK,))
BY_URL = build_policy(webhook=True, webhook_match="url", webhook_urls=(HOOK, "https://other.test/"))


def refuse(network: NetworkPolicy, url: str, policy: ExecutionPolicy = POLICY) -> Refusal:
    """Return why a tool with this network policy may not call `url`."""
    with pytest.raises(CallRefusedError) as refused:
        check_url(network, url, policy)
    return refused.value.refusal


@pytest.mark.parametrize("url", ["https://api.news.test/v1?page=2", "https://a.wild.test/", "https://API.NEWS.TEST/"])
def test_a_tool_may_call_the_approved_domains(url: str) -> None:
    assert str(check_url(NetworkPolicy.REGISTRY, url, POLICY)) == url.replace("API.NEWS.TEST", "api.news.test")


def test_a_declared_host_is_an_approved_one() -> None:
    assert check_url(NetworkPolicy.DECLARED_HOST, "https://api.news.test/", POLICY).host == "api.news.test"
    assert refuse(NetworkPolicy.DECLARED_HOST, "https://evil.test/").reason == "url_blocked"


@pytest.mark.parametrize("network", [NetworkPolicy.NONE, NetworkPolicy.PUBLIC_ANY, NetworkPolicy.OPERATOR_ENDPOINT])
def test_a_tool_whose_hosts_are_not_the_task_s_calls_none_of_them(network: NetworkPolicy) -> None:
    assert refuse(network, "https://api.news.test/") == refusal.refuse_host("api.news.test", ())
    assert refuse(network, HOOK).reason == "url_blocked"


def test_any_other_host_is_refused_with_the_approved_ones() -> None:
    assert refuse(NetworkPolicy.REGISTRY, "https://evil.test/") == refusal.refuse_host(
        "evil.test", ("api.news.test", "*.wild.test")
    )


def test_a_scheme_other_than_https_is_refused_as_such() -> None:
    assert refuse(NetworkPolicy.REGISTRY, "http://api.news.test/") == refusal.WRONG_SCHEME


def test_what_is_no_url_is_refused_with_the_broken_rule() -> None:
    assert refuse(NetworkPolicy.REGISTRY, "https://api.news.test:8443/") == refusal.refuse_malformed_url("the port is not 443")


def test_a_registered_webhook_s_host_is_for_the_webhook_tool_alone() -> None:
    assert refuse(NetworkPolicy.REGISTRY, HOOK).reason == "url_blocked"
    assert refuse(NetworkPolicy.WEBHOOK_LIST, "https://api.news.test/v1") == refusal.WEBHOOK_NOT_REGISTERED


def test_no_webhook_is_called_unless_its_integration_is_enabled() -> None:
    disabled = build_policy(webhook=False, webhook_urls=(HOOK,))
    assert refuse(NetworkPolicy.WEBHOOK_LIST, HOOK, disabled) == refusal.WEBHOOK_NOT_ENABLED


@pytest.mark.parametrize("url", [HOOK, "https://hooks.test/", "https://hooks.test/any/../path?x", "https://HOOKS.test/a"])
def test_a_webhook_is_compared_by_its_host(url: str) -> None:
    assert check_url(NetworkPolicy.WEBHOOK_LIST, url, POLICY).host == "hooks.test"


@pytest.mark.parametrize("url", [HOOK, "https://HOOKS.test/registered?key=1#part", "https://other.test"])
def test_a_webhook_is_compared_by_host_path_and_query_where_the_task_says_so(url: str) -> None:
    assert check_url(NetworkPolicy.WEBHOOK_LIST, url, BY_URL).target in ("/registered?key=1", "/")


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.test/registered",
        "https://hooks.test/registered?key=2",
        "https://hooks.test/registered/?key=1",
        "https://hooks.test/Registered?key=1",
        "https://other.test/registered?key=1",
    ],
)
def test_another_path_or_query_is_another_webhook_there(url: str) -> None:
    assert refuse(NetworkPolicy.WEBHOOK_LIST, url, BY_URL) == refusal.WEBHOOK_NOT_REGISTERED


@pytest.mark.parametrize("segment", [".", "..", "%2e", "%2E%2e", ".%2E", "%2e."])
def test_a_path_with_a_dot_segment_is_no_webhook_there_even_if_it_is_registered(segment: str) -> None:
    url = f"https://hooks.test/a/{segment}/b"
    assert refuse(NetworkPolicy.WEBHOOK_LIST, url, build_policy(webhook=True, webhook_match="url", webhook_urls=(url,))).blocked


def test_a_dot_within_a_segment_is_none() -> None:
    url = "https://hooks.test/v1.0/...?a=.."
    assert check_url(NetworkPolicy.WEBHOOK_LIST, url, build_policy(webhook=True, webhook_match="url", webhook_urls=(url,)))


def test_a_registered_url_that_the_grammar_no_longer_admits_is_left_out() -> None:
    policy = build_policy(webhook=True, webhook_urls=("https://10.0.0.1/", HOOK))
    assert check_url(NetworkPolicy.WEBHOOK_LIST, HOOK, policy).host == "hooks.test"

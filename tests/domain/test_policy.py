"""The policy of an execution: the tools, hosts and headers that it may use."""

from __future__ import annotations

from dataclasses import replace

from ferryman.domain.credentials.integration import Integration
from ferryman.domain.executions.policy import ServiceHeaders, collect_service_headers
from tests.builders import build_policy

NEWS = Integration(
    id="news", name="News", description="", category="", allowed_domains=("*.news.test",), headers=("X-Edition", "X-Page")
)
MAIL = replace(NEWS, id="mail", allowed_domains=("mail.test",), headers=("X-Folder",))
PLAIN = replace(NEWS, id="plain", allowed_domains=("plain.test",), headers=())


def test_the_declared_tools_may_be_used_beside_the_others() -> None:
    policy = build_policy(tools=("http_get",), declared={"look": "f1", "send": "f2"})
    assert policy.enabled == ("http_get", "look", "send")


def test_a_host_is_admitted_where_a_pattern_covers_it() -> None:
    policy = build_policy(domains=("api.news.test", "*.wild.test"))
    hosts = ("api.news.test", "a.wild.test", "news.test", "wild.test", "a.b.wild.test")
    assert [policy.admits(host) for host in hosts] == [True, True, False, False, False]


def test_the_headers_of_a_service_may_be_set_for_its_own_hosts_alone() -> None:
    policy = build_policy(headers=collect_service_headers([NEWS, MAIL]))
    assert policy.headers_of("api.news.test") == ("X-Edition", "X-Page")
    assert policy.headers_of("mail.test") == ("X-Folder",)
    assert policy.headers_of("other.test") == ()


def test_a_service_without_headers_adds_none() -> None:
    collected = collect_service_headers([PLAIN, MAIL])
    assert collected == (ServiceHeaders(domains=("mail.test",), names=("X-Folder",)),)

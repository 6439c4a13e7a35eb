"""Refusals: the sentences of the specification, word for word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.calls import refusal

SENTENCES = [
    (
        refusal.refuse_host("evil.test", ["a.test", "*.b.test"]),
        "Error: URL blocked -- Domain evil.test not in any approved integration for this task. Approved: [a.test, *.b.test]",
        "url_blocked",
    ),
    (refusal.WRONG_SCHEME, "Error: URL blocked -- only https:// URLs are allowed", "url_blocked"),
    (refusal.MISSING_CREDENTIAL, "Error: 'credential' field required for api_call", "missing_credential"),
    (
        refusal.refuse_unknown_credential("MY_KEY"),
        "Error: credential 'MY_KEY' not found. Check your task's credential configuration.",
        "credential_not_found",
    ),
    (
        refusal.refuse_leak("X"),
        "Error: Blocked -- Credential X detected in outbound request. This has been logged.",
        "credential_leak",
    ),
    (refusal.refuse_address("a.test"), "Error: DNS resolution failed or blocked for a.test", "dns_validation_failed"),
    (refusal.refuse_execution_rate(20), "Error: Execution limit reached (20 API calls)", "rate_limited"),
    (refusal.refuse_minute_rate(10), "Error: Rate limit reached (10 API calls per minute)", "rate_limited"),
    (refusal.report_timeout(30), "Error: request timed out (30s)", "timed_out"),
    (refusal.refuse_unknown_tool("tool_name"), "Error: unknown tool 'tool_name'", "unknown_tool"),
    (refusal.refuse_tool_not_enabled("webhook"), "Error: tool 'webhook' is not enabled for this task", "tool_not_enabled"),
    (refusal.WEBHOOK_NOT_ENABLED, "Error: webhook integration not enabled for this task", "webhook_not_enabled"),
    (
        refusal.WEBHOOK_NOT_REGISTERED,
        "Error: webhook URL not registered for this task. Register it in your task settings.",
        "webhook_not_registered",
    ),
    (
        refusal.refuse_method("api_call", "PATCH", ["GET", "POST", "PUT", "DELETE"]),
        "Error: method 'PATCH' not allowed for api_call. Allowed: [GET, POST, PUT, DELETE]",
        "method_not_allowed",
    ),
    (
        refusal.refuse_without_token("the token endpoint answered 403"),
        "Error: no token could be fetched for this tool -- the token endpoint answered 403",
        "token_not_fetched",
    ),
    (refusal.report_failure("connection refused"), "Error: request failed: connection refused", "request_failed"),
]


@pytest.mark.parametrize(
    ("refused_call", "sentence", "reason"), SENTENCES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_the_sentence_is_word_for_word(refused_call, sentence, reason):
    assert (refused_call.message, refused_call.reason) == (sentence, reason)


def test_a_timeout_and_a_failed_request_are_not_blocks():
    assert not refusal.report_timeout(30).blocked
    assert not refusal.report_failure("TLS").blocked


@given(st.text())
def test_a_name_the_model_made_up_enters_no_sentence_unless_it_matches_the_grammar(name):
    for refused_call in (
        refusal.refuse_unknown_tool(name),
        refusal.refuse_tool_not_enabled(name),
        refusal.refuse_unknown_credential(name),
    ):
        assert refused_call.message.isascii()
        assert "\n" not in refused_call.message
        assert "<" not in refused_call.message

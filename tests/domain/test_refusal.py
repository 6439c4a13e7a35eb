"""Refusals: the sentences of the specification, word for word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.domain.calls import refusal

SENTENCES = [
    (
        lambda: refusal.refuse_host("evil.test", ["a.test", "*.b.test"]),
        "Error: URL blocked -- Domain evil.test not in any approved integration for this task. Approved: [a.test, *.b.test]",
        "url_blocked",
    ),
    (lambda: refusal.WRONG_SCHEME, "Error: URL blocked -- only https:// URLs are allowed", "url_blocked"),
    (lambda: refusal.MISSING_CREDENTIAL, "Error: 'credential' field required for api_call", "missing_credential"),
    (
        lambda: refusal.refuse_unknown_credential("MY_KEY"),
        "Error: credential 'MY_KEY' not found. Check your task's credential configuration.",
        "credential_not_found",
    ),
    (
        lambda: refusal.refuse_leak("X"),
        "Error: Blocked -- Credential X detected in outbound request. This has been logged.",
        "credential_leak",
    ),
    (lambda: refusal.refuse_address("a.test"), "Error: DNS resolution failed or blocked for a.test", "dns_validation_failed"),
    (lambda: refusal.refuse_execution_rate(20), "Error: Execution limit reached (20 API calls)", "rate_limited"),
    (
        lambda: refusal.refuse_minute_rate(10, 44),
        "Error: Rate limit reached (10 API calls per minute). "
        "The window opens in 44 s; a turn of such refusals alone waits for it.",
        "rate_limited",
    ),
    (
        lambda: refusal.TOO_MANY_SUB_CALLS,
        "Error: a turn may not have so many calls as this one asks for",
        "too_many_calls",
    ),
    (
        lambda: refusal.NOT_TRIED,
        "Error: not tried -- calls of this turn before it were refused for the same limit",
        "rate_limited",
    ),
    (lambda: refusal.report_timeout(30), "Error: request timed out (30s)", "timed_out"),
    (lambda: refusal.refuse_unknown_tool("tool_name"), "Error: unknown tool 'tool_name'", "unknown_tool"),
    (
        lambda: refusal.refuse_tool_not_enabled("webhook"),
        "Error: tool 'webhook' is not enabled for this task",
        "tool_not_enabled",
    ),
    (lambda: refusal.WEBHOOK_NOT_ENABLED, "Error: webhook integration not enabled for this task", "webhook_not_enabled"),
    (
        lambda: refusal.WEBHOOK_NOT_REGISTERED,
        "Error: webhook URL not registered for this task. Register it in your task settings.",
        "webhook_not_registered",
    ),
    (
        lambda: refusal.refuse_method("api_call", "PATCH", ["GET", "POST", "PUT", "DELETE"]),
        "Error: method 'PATCH' not allowed for api_call. Allowed: [GET, POST, PUT, DELETE]",
        "method_not_allowed",
    ),
    (
        lambda: refusal.refuse_without_token("the token endpoint answered 403"),
        "Error: no token could be fetched for this tool -- the token endpoint answered 403",
        "token_not_fetched",
    ),
    (lambda: refusal.report_failure("connection refused"), "Error: request failed: connection refused", "request_failed"),
    (
        lambda: refusal.refuse_disabled_tool("t", "its URL is not approved"),
        "Error: tool 't' is disabled: its URL is not approved",
        "tool_disabled",
    ),
    (
        lambda: refusal.refuse_changed_tool("t"),
        "Error: tool 't' was changed or removed since this execution began",
        "tool_changed",
    ),
    (
        lambda: refusal.refuse_missing_argument("http_get", "url"),
        "Error: 'url' field required for http_get",
        "invalid_arguments",
    ),
    (
        lambda: refusal.refuse_wrong_argument("http_get", "headers", "an object"),
        "Error: 'headers' for http_get must be an object",
        "invalid_arguments",
    ),
    (lambda: refusal.refuse_malformed_url("the port is not 443"), "Error: URL blocked -- the port is not 443", "url_blocked"),
    (
        lambda: refusal.refuse_credential_for_host("MY_KEY", "a.test"),
        "Error: credential MY_KEY is not valid for host a.test",
        "credential_host_mismatch",
    ),
    (
        lambda: refusal.refuse_unreadable_credential("MY_KEY"),
        "Error: credential 'MY_KEY' could not be opened. Store it again in your task settings.",
        "credential_unreadable",
    ),
    (
        lambda: refusal.refuse_until_reconnected("MY_KEY"),
        "Error: credential MY_KEY has to be connected again by its owner: its service no longer renews it.",
        "credential_reconnect",
    ),
    (
        lambda: refusal.refuse_unconnected_server("tracker"),
        "Error: the MCP server tracker is not connected, or has to be connected again: its owner has to consent.",
        "server_not_connected",
    ),
    (
        lambda: refusal.refuse_until_renewed("MY_KEY"),
        "Error: credential MY_KEY has expired and could not be renewed just now. Try again later.",
        "credential_not_renewed",
    ),
    (
        lambda: refusal.refuse_header("it frames the request"),
        "Error: header not allowed -- it frames the request",
        "header_forbidden",
    ),
    (
        lambda: refusal.refuse_unchecked("request", "too long"),
        "Error: the request could not be checked for credentials: too long",
        "over_budget",
    ),
    (
        lambda: refusal.report_unchecked_answer(200, "too long"),
        "Error: HTTP 200. The answer is omitted, because it could not be checked for credentials: too long",
        "over_budget",
    ),
]


@pytest.mark.parametrize(("refuse", "sentence", "reason"), SENTENCES, ids=lambda value: value if isinstance(value, str) else "")
def test_the_sentence_is_word_for_word(refuse, sentence, reason):
    refused_call = refuse()
    assert (refused_call.message, refused_call.reason) == (sentence, reason)


def test_what_may_have_been_sent_is_reported_and_everything_else_is_blocked():
    reported = [reason for refuse, _, reason in SENTENCES if refuse().blocked is False]
    assert reported == ["timed_out", "request_failed", "over_budget"]
    assert not refusal.IN_DOUBT.blocked
    assert not refusal.HALTED.blocked
    assert refusal.HALTED_UNSENT.blocked


def test_a_check_that_takes_too_long_blocks_a_request_and_omits_an_answer():
    assert refusal.refuse_unchecked("request", "too long").blocked
    assert not refusal.report_unchecked_answer(200, "too long").blocked


@pytest.mark.parametrize(
    "refuse",
    [
        refusal.refuse_leak,
        refusal.refuse_unreadable_credential,
        refusal.refuse_until_reconnected,
        refusal.refuse_until_renewed,
        lambda name: refusal.refuse_credential_for_host(name, "a.test"),
    ],
)
def test_a_refusal_that_is_about_a_credential_names_it_for_the_log(refuse):
    assert refuse("MY_KEY").credential == "MY_KEY"


def test_the_error_of_a_refused_call_has_the_sentence_as_its_text():
    error = refusal.CallRefusedError(refusal.NO_CREDITS)
    assert (error.refusal, str(error)) == (refusal.NO_CREDITS, "Error: credit limit of this execution reached")


@pytest.mark.parametrize(
    ("refuse", "valid", "invalid"),
    [
        (refusal.refuse_unknown_tool, "t" * 64, "t" * 65),
        (refusal.refuse_tool_not_enabled, "0-_", "a b"),
        (lambda name: refusal.refuse_disabled_tool(name, "why"), "T", ""),
        (refusal.refuse_changed_tool, "t-1", "t.1"),
        (refusal.refuse_unknown_credential, "K" * 64, "K" * 65),
        (refusal.refuse_unreadable_credential, "k_1", "1K"),
        (lambda name: refusal.refuse_method("api_call", name, []), "OPTIONSS", "OPTIONSSS"),
        (lambda name: refusal.refuse_method("api_call", name, []), "patch", "PATCH\n"),
    ],
)
def test_a_name_is_repeated_where_it_matches_its_grammar_and_is_a_question_mark_where_not(refuse, valid, invalid):
    assert f"'{valid}'" in refuse(valid).message
    assert "'?'" in refuse(invalid).message


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

"""Calls: the ten fields of a result, its fee and its audit row."""

from __future__ import annotations

import dataclasses
from decimal import Decimal

import pytest

from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult, get_fee, to_audit_row


def test_a_result_is_a_dataclass_of_the_ten_fields_in_their_order():
    assert [field.name for field in dataclasses.fields(ToolCallResult)] == [
        "tool",
        "content",
        "url",
        "method",
        "credential_used",
        "response_status",
        "response_size_bytes",
        "latency_ms",
        "blocked",
        "block_reason",
    ]


def test_an_authenticated_call_that_was_not_blocked_costs_half_a_credit():
    assert ToolCallResult("api_call", "", credential_used="KEY", response_status=200).fee == Decimal("0.5")


def test_an_authenticated_call_whose_target_failed_still_costs_half_a_credit():
    assert ToolCallResult("api_call", "", credential_used="KEY", response_status=500).fee == Decimal("0.5")


def test_a_timed_out_call_was_sent_and_costs_half_a_credit():
    result = ToolCallResult.from_refusal("api_call", refusal.report_timeout(30), credential="KEY")
    assert (result.blocked, result.fee) == (False, Decimal("0.5"))


def test_a_blocked_call_is_free():
    assert ToolCallResult.from_refusal("api_call", refusal.refuse_leak("KEY"), credential="KEY").fee == 0


@pytest.mark.parametrize("tool", ["http_get", "http_post", "webhook"])
def test_the_other_tools_are_free_even_if_a_credential_is_named(tool):
    assert ToolCallResult(tool, "", credential_used="KEY", response_status=200).fee == 0
    assert get_fee(tool) == 0


def test_a_call_of_a_declared_tool_that_names_no_credential_is_free():
    assert ToolCallResult("get_weather", "", response_status=200).fee == 0


def test_a_blocked_result_has_its_reason_and_one_that_merely_failed_has_none():
    results = [
        ToolCallResult.from_refusal("http_get", why) for why in (refusal.refuse_address("a.test"), refusal.report_timeout(30))
    ]
    assert [(result.blocked, result.block_reason) for result in results] == [(True, "dns_validation_failed"), (False, None)]


def test_an_audit_row_keeps_a_thousand_characters_of_content_and_says_that_it_was_cut():
    row = to_audit_row(ToolCallResult("http_get", "x" * 1_001, url="https://a.test/", response_status=200))
    assert row.content == "x" * 1_000 + "... (truncated)"
    assert (row.url, row.response_status) == ("https://a.test/", 200)


def test_a_short_result_is_its_own_audit_row():
    result = ToolCallResult("http_get", "x" * 1_000)
    assert to_audit_row(result) == result


def test_a_row_keeps_a_bounded_part_of_whatever_the_model_wrote():
    long = "x" * 300_000
    row = to_audit_row(ToolCallResult(long, long, url=long, method=long, credential_used=long))
    assert sum(len(text) for text in (row.tool, row.content, row.url, row.method, row.credential_used)) < 3_500

"""Repeats: the same call is made twice among ten, and not a third time."""

from __future__ import annotations

import pytest

from ferryman.domain.calls.rate import check_repeats, digest_call
from ferryman.domain.calls.refusal import REPEATED_CALL, CallRefusedError
from tests.builders import START


def test_a_call_is_made_again_once():
    check_repeats("d", [])
    check_repeats("d", ["d"])
    check_repeats("d", ["other"] * 9)


@pytest.mark.parametrize("recent", [["d"] * 2, ["d"] * 9, ["d", *["other"] * 7, "d"], ["d", "other", "d"]])
def test_the_third_of_the_same_calls_among_ten_is_refused(recent):
    with pytest.raises(CallRefusedError) as refused:
        check_repeats("d", recent)
    assert refused.value.refusal is REPEATED_CALL


@pytest.mark.parametrize("recent", [["d", *["other"] * 8, "d"], ["d"] * 2 + ["other"] * 9])
def test_an_older_call_is_no_longer_compared(recent):
    check_repeats("d", recent)


def test_the_order_of_the_arguments_does_not_matter():
    assert digest_call("http_get", {"a": 1, "b": 2}) == digest_call("http_get", {"b": 2, "a": 1})


@pytest.mark.parametrize(("tool", "arguments"), [("http_post", {"a": 1}), ("http_get", {"a": "1"}), ("http_get", {})])
def test_another_tool_or_other_arguments_are_another_call(tool, arguments):
    assert digest_call(tool, arguments) != digest_call("http_get", {"a": 1})


def test_an_argument_that_json_does_not_have_is_compared_as_its_text():
    assert digest_call("t", {"at": START}) == digest_call("t", {"at": str(START)})

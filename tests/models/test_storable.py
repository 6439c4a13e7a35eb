"""What a store can hold of what a model writes."""

from __future__ import annotations

import pytest

from ferryman.models.events import UnreadableReplyError
from ferryman.models.storable import DEPTH_MAX, make_storable


def test_a_number_that_json_does_not_have_becomes_text() -> None:
    assert make_storable({"a": [float("nan"), float("inf"), 1.5]}) == {"a": ["nan", "inf", 1.5]}


def test_a_lone_surrogate_is_replaced_in_names_too() -> None:
    assert make_storable({"a\ud800": "\udfff"}) == {"a\ufffd": "\ufffd"}


def test_what_is_nested_too_deeply_is_refused() -> None:
    value: object = "x"
    for _ in range(DEPTH_MAX):
        value = [value]
    assert make_storable(value) == value
    with pytest.raises(UnreadableReplyError):
        make_storable({"a": value})

"""Paths: where a token is in an answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.declared import paths

ANSWER = {"access_token": "t", "data": [{"token": "u"}, {"token": "v"}], "odd name": {"x-y": None}, "n": 0}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        *(("$.access_token", "t"), ("$.data[1].token", "v"), ("$.data[-1].token", "v"), ("$.data[*].token", "u")),
        *(("$['odd name']['x-y']", None), ("$.n", 0), ("$.nothing.there", None), ("$.data[9]", None), ("$", ANSWER)),
    ],
)
def test_what_a_path_finds(path: str, expected: Any) -> None:
    assert paths.find_problem(path) is None
    assert paths.find(path, ANSWER) == expected


@pytest.mark.parametrize(
    "path", ["", "access_token", "$.", "$..token", "$.data[?@.token]", "$[", "$.a | $.b", "$[*,*]", "$." + "a" * 300]
)
def test_what_is_no_path(path: str) -> None:
    assert paths.find_problem(path) is not None
    with pytest.raises(ValueError, match="the path"):
        paths.find(path, ANSWER)


@pytest.mark.parametrize("document", [None, "text", 7, []])
def test_an_answer_that_is_no_object_has_nothing_at_a_name(document: Any) -> None:
    assert paths.find("$.token", document) is None


@settings(max_examples=40)
@given(st.text("$.[]'\"*:0-1a_b ,@()\\é", max_size=20))
def test_any_text_is_a_path_or_refused(text: str) -> None:
    if paths.find_problem(f"${text}") is None:
        paths.find(f"${text}", ANSWER)

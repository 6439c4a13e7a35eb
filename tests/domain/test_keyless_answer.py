"""Answers of functions without keys: read strictly, since a stranger's document may have taken the function over."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.domain.calls.keyless_answer import InvalidAnswerError, KeylessAnswer, read_answer
from ferryman.domain.owners.user_changes import UserChanges

PLAIN: dict[str, Any] = {"content": "a", "code": None}


def test_an_answer_needs_no_more_than_content_and_code() -> None:
    assert read_answer(PLAIN) == KeylessAnswer("a")


def test_all_members_are_read() -> None:
    about = {"url": "https://a.test/", "method": "GET", "response_status": 200, "response_size_bytes": 1, "truncated": True}
    changes = {"reads": {}, "writes": {}}
    read = read_answer({**PLAIN, **about, "about": {"size": 1}, "changes": changes, "unknown": 1})
    assert read == KeylessAnswer("a", None, UserChanges(), **about, about={"size": 1})


@pytest.mark.parametrize("document", [None, [], {"code": None}, {"content": "a"}])
def test_an_answer_without_content_or_code_is_none(document: Any) -> None:
    with pytest.raises(InvalidAnswerError):
        read_answer(document)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            ("content", 1),
            ("content", None),
            ("code", 1),
            ("url", "a" * 2_049),
            ("url", "a b"),
            ("url", "é"),
        ),
        *(("method", "get"), ("method", "G\nET"), ("response_status", 99), ("response_status", 600), ("response_status", True)),
        *(("response_size_bytes", -1), ("response_size_bytes", 2**53), ("response_size_bytes", 1.0), ("truncated", None)),
        *(("about", []), ("changes", None)),
    ],
)
def test_a_member_of_another_kind_is_refused_and_named(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name) as raised:
        read_answer({**PLAIN, name: value})
    assert str(value) not in str(raised.value) or value in ([], None, True)

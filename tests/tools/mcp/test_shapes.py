"""A question that asks for a secret in letters that look like Latin ones is one that no person is asked."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.domain.approvals.question_fields import UnaskableQuestionError
from ferryman.domain.calls.continuation import ServerQuestion
from ferryman.tools.mcp.asking import check_shapes

COLOUR: dict[str, Any] = {"type": "object", "properties": {"colour": {"type": "string"}}}


def build_question(message: str = "Which colour?", schema: Any = None, mode: str = "form") -> ServerQuestion:
    return ServerQuestion(key="a", mode=mode, message=message, schema=schema or COLOUR, url=None)


@pytest.mark.parametrize(
    "message",
    [
        "Your p\u0430ssword?",
        "Your \u0440\u0430\u0455\u0455word?",
        "Your p\u00e0ssw\u00f6rd?",
        "Your \uff50assword?",
        "Your pass\u200bword?",
    ],
)
def test_a_message_is_read_by_its_shape(message: str) -> None:
    with pytest.raises(UnaskableQuestionError):
        check_shapes([build_question(message)])


@pytest.mark.parametrize("field", ["\u0430pi_key", "\u0440in"])
def test_a_field_is_read_by_its_shape(field: str) -> None:
    with pytest.raises(UnaskableQuestionError):
        check_shapes([build_question(schema={"type": "object", "properties": {field: {"type": "string"}}})])


@pytest.mark.parametrize(
    "message", ["Which colour?", "Welche Farbe f\u00fcr Ihr Auto?", "\u041a\u0430\u043a\u043e\u0439 \u0446\u0432\u0435\u0442?"]
)
def test_a_question_for_no_secret_is_asked(message: str) -> None:
    check_shapes([build_question(message)])


def test_a_page_is_not_a_form() -> None:
    check_shapes([build_question("Enter your p\u0430ssword there.", mode="url")])

"""Answers to an MCP server, typed field by field: its texts are shown with every character visible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ferryman.domain.approvals.answers import parse_value
from ferryman.domain.approvals.question import PAGE, read_questions
from ferryman.domain.approvals.question_fields import QuestionField, UnaskableQuestionError, list_fields
from ferryman.domain.approvals.visible import show_text


def describe_step(approval: Mapping[str, Any]) -> str:
    """Return the command that decides about an approval of a call, or answers a question."""
    return f"ferryman approvals {'answer' if is_question(approval) else 'approve'} {approval['approval_id']}"


def is_question(approval: Mapping[str, Any]) -> bool:
    """Tell whether an approval, as the API answers it, is what an MCP server asks."""
    return read_questions(approval["form"]) is not None


def ask_answers(approval: Mapping[str, Any], read: Callable[[str], str | None]) -> dict[str, Any]:
    """Return the answers to the questions of an approval, each line of them read by `read` with a prompt.

    What is left empty is not among them; whether they fit is for the API to say.
    """
    answers: dict[str, Any] = {}
    for question in read_questions(approval["form"]) or ():
        answers[question.key] = {}
        if question.mode == PAGE:
            continue  # to answer is to consent to the page
        try:
            fields = list_fields(question.schema)
        except UnaskableQuestionError:
            continue
        for field in fields:
            text = read(_write_prompt(field)) or ""
            if text.strip():
                answers[question.key][field.name] = parse_value(field, text)
    return answers


def _write_prompt(field: QuestionField) -> str:
    choices = ", ".join(show_text(value) for value, _ in field.choices)
    kind = {"boolean": "yes or no", "choices": f"some of {choices}, with commas"}.get(field.kind, choices)
    about = "; ".join(text for text in (show_text(field.description), kind, "" if field.is_required else "Enter: none") if text)
    return f"{show_text(field.title or field.name)}{f' ({about})' if about else ''}> "

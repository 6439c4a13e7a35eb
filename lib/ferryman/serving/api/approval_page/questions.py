"""Questions of MCP servers on the approval page: inputs that are named by their numbers, and what was typed into them.

No text of a server names an input or is a value that the page fills in; its URLs are no links.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from ferryman.domain.approvals.answers import ANSWER_CHARACTERS_MAX, parse_value
from ferryman.domain.approvals.question import PAGE, read_questions
from ferryman.domain.approvals.question_fields import QuestionField, UnaskableQuestionError, list_fields
from ferryman.domain.approvals.visible import show_text
from ferryman.domain.calls.continuation import ServerQuestion


def write_questions(questions: Sequence[ServerQuestion]) -> str:
    """Return the inputs of the answers to these questions, as markup."""
    return "".join(_write_question(number, question) for number, question in enumerate(questions))


def read_answers(form: str, fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the answers that the `fields` of the page hold, by question, for the canonical `form`.

    What was left empty is not among them. Whether they fit is judged where they are decided about.
    """
    answers: dict[str, Any] = {}
    for number, question in enumerate(read_questions(json.loads(form)) or ()):
        answers[question.key] = {
            field.name: value
            for index, field in enumerate(_list(question))
            if (value := _read_value(field, f"q{number}.{index}", fields)) is not None
        }
    return answers


def _list(question: ServerQuestion) -> tuple[QuestionField, ...]:
    try:
        return () if question.mode == PAGE else list_fields(question.schema)
    except UnaskableQuestionError:
        return ()


def _write_question(number: int, question: ServerQuestion) -> str:
    if question.mode == PAGE:
        return "<p>To answer is to consent to this page. Nothing here opens it: copy its address, if you trust its host.</p>"
    return "".join(_write_field(f"q{number}.{index}", field) for index, field in enumerate(_list(question)))


def _write_field(name: str, field: QuestionField) -> str:
    texts = (field.title or field.name, field.description, "" if field.is_required else "may be left empty")
    label = escape(" — ".join(show_text(text) for text in texts if text))
    required = " required" if field.is_required else ""
    if field.kind == "choices":
        boxes = "".join(
            f'<label><input type="checkbox" name="{name}.{index}" value="on">{escape(show_text(title or value))}</label>'
            for index, (value, title) in enumerate(field.choices)
        )
        return f"<fieldset><legend>{label}</legend>{boxes}</fieldset>"
    choices = (("true", "yes"), ("false", "no")) if field.kind == "boolean" else field.choices
    if choices:
        options = "".join(
            f'<option value="{index}">{escape(show_text(title or value))}</option>'
            for index, (value, title) in enumerate(choices)
        )
        return f'<label>{label} <select name="{name}"{required}><option value=""></option>{options}</select></label>'
    return f'<label>{label} <input type="text" name="{name}" maxlength="{ANSWER_CHARACTERS_MAX}"{required}></label>'


def _read_value(field: QuestionField, name: str, fields: Mapping[str, str]) -> Any:
    if field.kind == "choices":
        chosen = [value for index, (value, _) in enumerate(field.choices) if f"{name}.{index}" in fields]
        return chosen or None
    text = fields.get(name, "")
    if not text:
        return None
    if field.kind == "boolean":
        return {"0": True, "1": False}.get(text, text)
    if field.choices:
        return next(_pick(field.choices, text), text)
    return parse_value(field, text)


def _pick(choices: Sequence[tuple[str, str]], text: str) -> Iterator[str]:
    if text.isascii() and text.isdigit() and int(text[:4]) < len(choices):
        yield choices[int(text[:4])][0]

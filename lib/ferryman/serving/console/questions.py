"""Questions of MCP servers in a form: inputs that are named by their numbers, and what was typed into them.

No text of a server names an input or is a value that the page fills in; its URLs are no links.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ferryman.domain.approvals.answers import parse_value
from ferryman.domain.approvals.question import PAGE, read_questions
from ferryman.domain.approvals.question_fields import QuestionField, UnaskableQuestionError, list_fields
from ferryman.domain.approvals.visible import show_text
from ferryman.domain.calls.continuation import ServerQuestion
from ferryman.serving.console.forms import Form


def list_inputs(form: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the inputs of the answers to the questions of a canonical form, None where it asks none.

    One of the kind `page` is no input: to answer is to consent to a page.
    """
    questions = read_questions(form)
    if questions is None:
        return None
    inputs: list[dict[str, Any]] = []
    for number, question in enumerate(questions):
        if question.mode == PAGE:
            inputs.append({"kind": "page", "name": f"q{number}", "label": "", "choices": [], "is_required": False})
        inputs.extend(_describe(f"q{number}.{index}", field) for index, field in enumerate(_list(question)))
    return inputs


def read_answers(form: Mapping[str, Any], fields: Form) -> dict[str, Any]:
    """Return the answers that the `fields` of a page hold, by question, for the canonical `form`.

    What was left empty is not among them. Whether they fit is judged by the API.
    """
    answers: dict[str, Any] = {}
    for number, question in enumerate(read_questions(form) or ()):
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


def _describe(name: str, field: QuestionField) -> dict[str, Any]:
    texts = (field.title or field.name, field.description, "" if field.is_required else "optional")
    choices = (("true", "yes"), ("false", "no")) if field.kind == "boolean" else field.choices
    return {
        "kind": "choices" if field.kind == "choices" else "choice" if choices else "text",
        "name": name,
        "label": " — ".join(show_text(text) for text in texts if text),
        "choices": [(str(index), show_text(title or value)) for index, (value, title) in enumerate(choices)],
        "is_required": field.is_required,
    }


def _read_value(field: QuestionField, name: str, fields: Form) -> Any:
    if field.kind == "choices":
        chosen = [value for index, (value, _) in enumerate(field.choices) if f"{name}.{index}" in fields]
        return chosen or None
    text = fields.get(name, ("",))[0]
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

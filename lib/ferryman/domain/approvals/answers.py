"""Answers of people to questions of MCP servers: as the form says, and without anything that looks like a key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from ferryman.domain.approvals.question import PAGE
from ferryman.domain.approvals.question_fields import QuestionField, list_fields
from ferryman.domain.calls.continuation import ServerQuestion
from ferryman.domain.http.url import InvalidUrlError, parse_url
from ferryman.domain.json_tree import find_fault
from ferryman.domain.key_shapes import find_secrets
from ferryman.domain.problem import Problem

ANSWER_CHARACTERS_MAX = 4_000
"""How long one text of an answer may be, whatever the server admits."""

_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,255}")


def parse_value(field: QuestionField, text: str) -> Any:
    """Return what a person typed into a field as its value; the text itself where it is none, which is refused by its name."""
    plain = text.strip()
    match field.kind:
        case "boolean":
            return {"true": True, "yes": True, "false": False, "no": False}.get(plain.lower(), text)
        case "number" | "integer":
            try:
                return int(plain) if re.fullmatch(r"-?[0-9]{1,16}", plain, re.ASCII) else float(plain)
            except ValueError:
                return text
        case "choices":
            return [item.strip() for item in plain.split(",") if item.strip()]
    return text


def find_answer_problems(questions: Sequence[ServerQuestion], answers: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what keeps `answers` from being given: by question, an object of fields, or an empty one for a page."""
    for key in answers:
        if all(key != question.key for question in questions):
            yield Problem("arguments", f"{key[:40]!r} is no question of this approval")
    for question in questions:
        content = answers.get(question.key)
        if not isinstance(content, Mapping):
            yield Problem("arguments", f"{question.key[:40]!r}: an object with the answer is required")
        elif question.mode == PAGE:
            if content:
                yield Problem("arguments", f"{question.key[:40]!r}: a page has no fields: {{}} says that you consent to it")
        else:
            yield from _find_content_problems(question, content)
    if find_secrets(dict(answers)):
        yield Problem("arguments", "hold what looks like a key or a token: no answer to a server may")


def _find_content_problems(question: ServerQuestion, content: Mapping[str, Any]) -> Iterator[Problem]:
    fields = {field_.name: field_ for field_ in list_fields(question.schema)}
    for name, value in content.items():
        if name not in fields:
            yield Problem("arguments", f"{question.key[:40]!r}: there is no field {name[:40]!r}")
        elif (fault := _find_value_fault(fields[name], value)) is not None:
            yield Problem("arguments", f"{name[:64]!r}: {fault}")
    for field_ in fields.values():
        if field_.is_required and field_.name not in content:
            yield Problem("arguments", f"{field_.name!r}: is required")


def _find_value_fault(field_: QuestionField, value: Any) -> str | None:
    if field_.kind == "boolean":
        return None if isinstance(value, bool) else "must be true or false"
    if field_.kind in ("number", "integer"):
        return _find_number_fault(field_, value)
    if field_.kind == "choices":
        values = {choice for choice, _ in field_.choices}
        if not isinstance(value, list) or any(item not in values for item in value) or len(set(value)) < len(value):
            return "must be a list of its choices, each once"
        return _find_range_fault(field_, len(value), "choices")
    if not isinstance(value, str):
        return "must be text"
    if field_.choices:
        return None if any(value == choice for choice, _ in field_.choices) else "must be one of its choices"
    if (fault := find_fault(value)) is not None:
        return fault
    if len(value) > ANSWER_CHARACTERS_MAX:
        return f"must be at most {ANSWER_CHARACTERS_MAX} characters, is {len(value)}"
    return _find_range_fault(field_, len(value), "characters") or _find_format_fault(field_, value)


def _find_number_fault(field_: QuestionField, value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or find_fault(value) is not None or abs(value) >= 2**53:
        return "must be a number below 2**53"
    if field_.kind == "integer" and not float(value).is_integer():
        return "must be a whole number"
    return _find_range_fault(field_, value, "")


def _find_range_fault(field_: QuestionField, size: float, unit: str) -> str | None:
    if field_.least is not None and size < field_.least:
        return f"must be at least {field_.least:g} {unit}".rstrip()
    if field_.most is not None and size > field_.most:
        return f"must be at most {field_.most:g} {unit}".rstrip()
    return None


def _find_format_fault(field_: QuestionField, value: str) -> str | None:
    try:
        match field_.format:
            case "email":
                return None if _EMAIL.fullmatch(value) else "must be an e-mail address"
            case "uri":
                parse_url(value)
            case "date":
                date.fromisoformat(value)
            case "date-time":
                datetime.fromisoformat(value)
    except (ValueError, InvalidUrlError):
        return f"must be a {field_.format}"
    return None

"""The fields of a form as data: how they are shown, and the JSON that the API gets for the typed texts.

Nothing is validated here: what is no number is sent as it was typed, and the API says what is wrong with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException

from ferryman.domain.ids import is_id
from ferryman.serving.console.api_client import ApiProblemError
from ferryman.serving.console.forms import Form

INVALID = 422


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """A field of the API's, as a form has it.

    `kind` is text, long (several lines), lines (a list, a line each), number, json, check, choice or secret. One that is empty
    is left out of what is sent where `when_empty` is "omit", null where it is "null", and sent as it is where it is "send".
    `group` is the heading that it is under; one that `is_rare` is behind a fold there.
    """

    name: str
    label: str
    kind: str = "text"
    help: str = ""
    options: Sequence[tuple[str, str]] = ()
    is_required: bool = False
    when_empty: str = "send"
    group: str = ""
    is_rare: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldGroup:
    """Fields under one heading; those that are rare are behind a fold."""

    label: str
    common: Sequence[FormField]
    rare: Sequence[FormField]


def group_fields(fields: Iterable[FormField]) -> list[FieldGroup]:
    """Return the fields by their groups, in the order in which these begin."""
    groups: dict[str, list[FormField]] = {}
    for item in fields:
        groups.setdefault(item.group, []).append(item)
    return [
        FieldGroup(
            label=label,
            common=[item for item in members if not item.is_rare],
            rare=[item for item in members if item.is_rare],
        )
        for label, members in groups.items()
    ]


def read_body(fields: Iterable[FormField], form: Form) -> dict[str, Any]:
    """Return the JSON that the API gets for the typed texts. Raise `ApiProblemError` with the field's name for invalid JSON."""
    body: dict[str, Any] = {}
    for item in fields:
        text = form.get(item.name, ("",))[0]
        if text or item.kind == "check" or item.when_empty == "send":
            body[item.name] = _READERS.get(item.kind, _read_text)(item.name, text)
        elif item.when_empty == "null":
            body[item.name] = None
    return body


def find_changes(body: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of `body` that are not as they are stored. Numbers are compared by value: 5 is "5.00"."""
    return {name: value for name, value in body.items() if name not in stored or not _is_equal(value, stored[name])}


def write_values(fields: Iterable[FormField], stored: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of the fields for the stored values; a secret is never shown."""
    return {item.name: "" if item.kind == "secret" else _write(item.kind, stored.get(item.name)) for item in fields}


def repeat_values(fields: Iterable[FormField], form: Form) -> dict[str, str]:
    """Return the typed texts, for a form that was refused; a secret must be typed again."""
    return {item.name: "" if item.kind == "secret" else form.get(item.name, ("",))[0] for item in fields}


def parse_json(name: str, text: str) -> Any:
    """Return the JSON of the field `name`. Raise `ApiProblemError` where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        place = f"line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else "its nesting"
        message = f"must be JSON; it is not at {place}"
        raise ApiProblemError(INVALID, {"title": "Invalid", "errors": [{"field": name, "message": message}]}) from None


def list_problems(error: ApiProblemError | None) -> Mapping[str, str]:
    """Return the message of each refused field, by its name, else the API's title and detail; {} where nothing was refused."""
    return {} if error is None else error.by_field or {error.title: error.detail}


def read_id(form: Form, name: str) -> str:
    """Return the id in a field of a form, as a path of the API may have it. Raise 422 where it is none."""
    values = form.get(name, ())
    if len(values) != 1 or not is_id(values[0]):
        raise HTTPException(422, f"{name}: must be an id")
    return values[0]


def require_consent(form: Form) -> None:
    """Raise 422 for the form of something that cannot be undone, whose box was not ticked."""
    if form.get("sure", ("",))[0] != "true":
        raise HTTPException(422, "sure: tick the box that confirms it")


def _read_text(_: str, text: str) -> str:
    return text


def _read_lines(_: str, text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _read_number(_: str, text: str) -> int | float | str:
    text = text.strip()
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if value - value == 0 else text  # neither infinite nor not a number
    return text


def _read_check(_: str, text: str) -> bool:
    return text == "true"


_READERS: Mapping[str, Callable[[str, str], Any]] = {
    "lines": _read_lines,
    "number": _read_number,
    "json": parse_json,
    "check": _read_check,
}


def _write(kind: str, value: Any) -> str:
    if kind == "json":
        return "" if value is None else json.dumps(value, indent=2, ensure_ascii=False)
    if kind == "check":
        return "true" if value else ""
    if kind == "lines":
        return "\n".join(value or ())
    return "" if value is None else str(value)


def _is_equal(value: Any, stored: Any) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool) and isinstance(stored, str):
        return str(value) == stored or _read_number("", stored) == value
    return bool(value == stored)

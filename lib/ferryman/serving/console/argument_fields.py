"""The arguments of a tool as the fields of a form, from the JSON Schema that the model is shown."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ferryman.domain.approvals.visible import show_text
from ferryman.serving.console.api_client import ApiProblemError
from ferryman.serving.console.form_fields import INVALID, FormField, parse_json
from ferryman.serving.console.forms import Form

WHOLE = "arguments"
"""The one field of a tool whose schema is not known, or has more arguments than a form."""

FIELDS_MAX = 40
CHOICES_MAX = 100
HELP_CHARACTERS_MAX = 300

KINDS = {"integer": "number", "number": "number", "string": "text", "boolean": "choice"}


def build_argument_fields(schema: Mapping[str, Any] | None) -> tuple[FormField, ...]:
    """Return a field for each argument, in the schema's order. Their names are numbers: an argument's may be any text."""
    properties = (schema or {}).get("properties")
    if not isinstance(properties, Mapping) or len(properties) > FIELDS_MAX:
        return (FormField(name=WHOLE, label="Arguments", kind="json", help="A JSON object", when_empty="omit"),)
    required = schema.get("required") if schema else ()
    names = required if isinstance(required, list | tuple) else ()
    return tuple(
        _build_field(f"{WHOLE}.{number}", name, shape if isinstance(shape, Mapping) else {}, is_required=name in names)
        for number, (name, shape) in enumerate(properties.items())
    )


def read_arguments(schema: Mapping[str, Any] | None, form: Form) -> Any:
    """Return the arguments that were typed; what is empty is left out. Raise `ApiProblemError` where one is no JSON.

    What is of another type than the schema has is sent as it was typed, and refused as it would be from a model.
    """
    fields = build_argument_fields(schema)
    if [field.name for field in fields] == [WHOLE]:
        arguments = parse_json(WHOLE, form.get(WHOLE, ("",))[0] or "{}")
        if not isinstance(arguments, dict):
            raise ApiProblemError(INVALID, {"title": "Invalid", "errors": [{"field": WHOLE, "message": "must be an object"}]})
        return arguments
    shapes = zip(fields, (schema or {})["properties"].items(), strict=True)
    typed = ((field.name, name, shape, form.get(field.name, ("",))[0]) for field, (name, shape) in shapes)
    return {name: _read(field, shape, text) for field, name, shape, text in typed if text}


def write_arguments(schema: Mapping[str, Any] | None, arguments: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the values of the fields: `arguments`, or the defaults of the schema where there are none yet."""
    fields = build_argument_fields(schema)
    if [field.name for field in fields] == [WHOLE]:
        return {WHOLE: json.dumps(arguments or {}, indent=2, ensure_ascii=False)}
    values = {}
    for field, (name, shape) in zip(fields, (schema or {})["properties"].items(), strict=True):
        default = shape.get("default") if isinstance(shape, Mapping) and arguments is None else None
        value = (arguments or {}).get(name, default)
        is_plain = isinstance(value, str) and field.kind != "json"
        values[field.name] = "" if value is None else value if is_plain else json.dumps(value, ensure_ascii=False)
    return values


def _build_field(number: str, name: str, shape: Mapping[str, Any], *, is_required: bool) -> FormField:
    kind = _find_kind(shape)
    options: tuple[tuple[str, str], ...] = ()
    choices = shape.get("enum")
    if kind == "choice":
        options = (("", "–"), ("true", "true"), ("false", "false"))
    elif kind == "text" and isinstance(choices, list) and 0 < len(choices) <= CHOICES_MAX:
        kind = "choice"
        options = (("", "–"), *((str(choice), show_text(str(choice))) for choice in choices))
    about = str(shape.get("description") or "")
    about = about if len(about) <= HELP_CHARACTERS_MAX else about[:HELP_CHARACTERS_MAX] + " …"
    notes = ["required" if is_required else "", "JSON" if kind == "json" else "", show_text(about)]
    return FormField(
        name=number, label=show_text(name), kind=kind, options=options, help=": ".join(filter(None, notes)), when_empty="omit"
    )


def _find_kind(shape: Mapping[str, Any]) -> str:
    choices = shape.get("enum")
    if "type" not in shape and isinstance(choices, list) and all(isinstance(choice, str) for choice in choices):
        return "text"
    return KINDS.get(str(shape.get("type")), "json")


def _read(field: str, shape: Any, text: str) -> Any:
    kind = _find_kind(shape if isinstance(shape, Mapping) else {})
    if kind == "text":
        return text
    if kind == "json":
        return parse_json(field, text)
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except ValueError:
        return text


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")

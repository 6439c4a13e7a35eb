"""The arguments of a tool as a person reads them before it is accepted: all of its schema, a line for each plain argument."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ferryman.domain.approvals.visible import show_name, show_text
from ferryman.domain.remote_servers.difference import compare_descriptors

_IN_LINE = ("type", "description")
"""What the line of an argument begins and ends with; its other rules are between them."""


def list_argument_lines(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a schema. Nothing of it is left out: what nobody was shown nobody has accepted.

    An argument whose rules are not nested is one line, such as `city (string, required, maxLength 80): Where to look.`; what
    else there is has a line for each field, with its path.
    """
    properties = schema.get("properties")
    required = schema.get("required")
    arguments = properties if isinstance(properties, Mapping) else {}
    names = _list_texts(required)
    plain = {name: rules for name, rules in arguments.items() if _is_plain(rules)}
    for name, rules in plain.items():
        yield _write_line(name, rules, is_required=name in names)
    rest = {key: value for key, value in schema.items() if key not in ("properties", "required")}
    if nested := {name: rules for name, rules in arguments.items() if name not in plain}:
        rest["properties"] = nested
    elif not isinstance(properties, Mapping) and properties is not None:
        rest["properties"] = properties
    if others := [name for name in names if name not in plain]:
        rest["required"] = others
    elif required is not None and not names:
        rest["required"] = required
    if rest.get("type") == "object":
        del rest["type"]
    for part in compare_descriptors({}, rest):
        if part.after is not None:
            yield f"{part.field}: {part.after}"


def _is_plain(rules: Any) -> bool:
    if not isinstance(rules, Mapping) or not all(isinstance(rules.get(name, ""), str) for name in _IN_LINE):
        return False
    return not any(map(_is_nested, rules.values()))


def _is_nested(value: Any) -> bool:
    members = value if isinstance(value, list) else ()
    return isinstance(value, Mapping) or any(isinstance(member, Mapping | list) for member in members)


def _list_texts(value: Any) -> list[str]:
    """Return a list of texts as it is, and nothing else."""
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else []


def _write_line(name: str, rules: Mapping[str, Any], *, is_required: bool) -> str:
    words = [str(rules.get("type", "any"))] + (["required"] if is_required else [])
    words += [f"{key} {json.dumps(value, ensure_ascii=False)}" for key, value in rules.items() if key not in _IN_LINE]
    description = f": {show_text(str(rules['description']))}" if "description" in rules else ""
    return f"{show_name(name)} ({show_text(', '.join(words))}){description}"

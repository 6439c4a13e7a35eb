"""A tool's definition as texts: its name, description, server and the parameters of its schema, each cut at a fixed length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DESCRIPTION_CHARACTERS_MAX = 2_000
PARAMETERS_MAX = 100
"""The parameters of one tool, nested ones included, that are read; a schema may nest them without end."""
PARAMETER_CHARACTERS_MAX = 4_000
"""The descriptions and enumerated values of all parameters of one tool together."""
ENUM_MAX = 30
NAME_CHARACTERS_MAX = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolText:
    """What is indexed of one tool. `group` is its server or cluster; `values` are its enumerated values."""

    name: str
    group: str = ""
    description: str = ""
    parameters: str = ""
    parameter_texts: str = ""
    values: str = ""
    required: int = 0
    numeric: bool = False


def read_definition(name: str, description: str, schema: Mapping[str, Any], *, group: str = "") -> ToolText:
    """Return the texts of a tool whose arguments have the JSON Schema `schema`; what is not of the expected type is skipped."""
    names: list[str] = []
    texts: list[str] = []
    values: list[str] = []
    numeric = False
    pending = [schema]
    while pending and len(names) < PARAMETERS_MAX:
        properties = pending.pop(0).get("properties")
        for key, property_schema in properties.items() if isinstance(properties, Mapping) else ():
            if len(names) >= PARAMETERS_MAX:
                break
            names.append(str(key)[:NAME_CHARACTERS_MAX])
            if not isinstance(property_schema, Mapping):
                continue
            texts.append(str(property_schema.get("description", ""))[:PARAMETER_CHARACTERS_MAX])
            values += _list_values(property_schema)
            numeric = numeric or property_schema.get("type") in ("integer", "number", "float")
            pending.append(property_schema)
            items = property_schema.get("items")
            if isinstance(items, Mapping):
                values += _list_values(items)
                pending.append(items)
    required = schema.get("required")
    return ToolText(
        name=name[:NAME_CHARACTERS_MAX],
        group=group[:NAME_CHARACTERS_MAX],
        description=description[:DESCRIPTION_CHARACTERS_MAX],
        parameters=" ".join(names),
        parameter_texts=" ".join([*texts, *values])[:PARAMETER_CHARACTERS_MAX],
        values=" ".join(values)[:PARAMETER_CHARACTERS_MAX],
        required=len(required) if isinstance(required, list) else 0,
        numeric=numeric,
    )


def _list_values(schema: Mapping[str, Any]) -> list[str]:
    values = schema.get("enum")
    return [str(value)[:NAME_CHARACTERS_MAX] for value in values[:ENUM_MAX]] if isinstance(values, list) else []

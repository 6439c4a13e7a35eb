"""The reference of the HTTP API, in Markdown, written from the OpenAPI document: docs/http.md, and what /docs shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]

EVERYWHERE = ("401", "413", "415", "429", "500", "503")
"""Statuses that any request may be answered with."""

HEAD = """# The HTTP API

{note}

Requests have the header `Authorization: Bearer KEY`; `GET /`, `/docs`, `/openapi.json` and `/healthz` need none. Bodies are
JSON. A refusal is a problem (RFC 9457, `application/problem+json`) whose `errors` name each field. Any request may be answered
{everywhere}; a POST may have an `Idempotency-Key`.

A list that has `next` in its answer has pages: `next` is the `cursor` of the page that follows, and null after the last.

What is under `/v1/tasks/{{task_id}}` for tools is also served under `/api/agents/{{task_id}}`, the address that the
tool-calling page gives it: a task is its agent. Those routes stay, and are marked as deprecated so that new clients use the
others.
"""


def write_reference(described: Json, note: str) -> str:
    """Return the page: every operation by its tag, and the fields of every body."""
    document = inline(described, described["components"]["schemas"])
    parts = [HEAD.format(note=note, everywhere=", ".join(EVERYWHERE))]
    operations = [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if not operation.get("deprecated")
    ]
    for tag in document["tags"]:
        parts.append(f"\n## {tag['name'].capitalize()}\n\n{tag['description']}\n")
        parts += [describe_operation(*entry) for entry in operations if tag["name"] in entry[2]["tags"]]
    parts.append("\n## Bodies\n")
    schemas = document["components"]["schemas"]
    parts += [describe_schema(name, schemas[name]) for name in sorted(schemas) if "properties" in schemas[name]]
    return "".join(parts)


def inline(value: Any, schemas: Json) -> Any:
    """Return a part of the document with the schemas that have no fields, which are lists of words, in place of their names."""
    if isinstance(value, Mapping):
        name = str(value.get("$ref", "")).rpartition("/")[2]
        if name and "properties" not in schemas[name]:
            return schemas[name]
        return {key: inline(inner, schemas) for key, inner in value.items()}
    return [inline(inner, schemas) for inner in value] if isinstance(value, list) else value


def describe_operation(method: str, path: str, operation: Json) -> str:
    """Return the section of one operation: what it does, its parameters, what it takes and answers."""
    about = f"`{operation['operationId']}`: {operation['summary']}. {operation['description']}"
    lines = [f"\n### {method.upper()} {path}\n\n{about}\n\n"]
    for parameter in operation.get("parameters", ()):
        if parameter["in"] != "path" and parameter["name"] != "idempotency-key":
            meaning = parameter.get("description", "")
            lines.append(f"- {parameter['in']} `{parameter['name']}`: {name_type(parameter['schema'])}. {meaning}\n")
    if "requestBody" in operation:
        optional = "" if operation["requestBody"].get("required") else ", which may be left out"
        lines.append(f"- takes {name_content(operation['requestBody'])}{optional}\n")
    answers = {status: answer for status, answer in operation["responses"].items() if status < "300"}
    lines += [f"- answers {status}{name_answer(answer)}\n" for status, answer in answers.items()]
    refusals = sorted(set(operation["responses"]) - set(answers) - set(EVERYWHERE))
    if refusals:
        lines.append(f"- refuses with {', '.join(refusals)}\n")
    return "".join(lines)


def name_answer(answer: Json) -> str:
    """Return what an answer holds, or, without a body, what it means."""
    if "content" in answer:
        return f": {name_content(answer)}"
    return "" if answer["description"] in ("Successful Response", "No Content") else f": {answer['description']}"


def name_content(holder: Json) -> str:
    """Return the types that a body may have, each with its media type where that is not JSON."""
    return " or ".join(_name_medium(media, content) for media, content in holder["content"].items())


def _name_medium(media: str, content: Json) -> str:
    kind = name_type(content.get("schema", {}))
    return kind if media == "application/json" else f"{kind} as `{media}`"


def describe_schema(name: str, schema: Json) -> str:
    """Return the table of the fields of one body."""
    required = schema.get("required", ())
    rows = [
        f"| `{field}`{'' if field in required else ' (optional)'} | {name_type(details)} | {describe_limits(details)} |\n"
        for field, details in schema["properties"].items()
    ]
    about = schema.get("description", "").split("\n\n")[0].replace("\n", " ")
    return f"\n### {name}\n\n{about}{'' if not about else chr(10) * 2}| field | type | |\n|---|---|---|\n{''.join(rows)}"


def name_type(schema: Json) -> str:
    """Return the type of a value in words, linked where it has a section of its own."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(name_type(option) for option in schema[union]))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    match schema.get("type"):
        case "array":
            return f"list of {name_type(schema['items'])}" if schema.get("items") else "list"
        case "object" if isinstance(schema.get("additionalProperties"), Mapping):
            return f"object of {name_type(schema['additionalProperties'])}"
        case str(kind):
            return str(schema.get("format", kind))
    return "any JSON"


def describe_limits(schema: Json) -> str:
    """Return what a field means and may be at most, in the words of its schema."""
    limits = [f"{words} {schema[key]:,}" for key, words in LIMITS.items() if isinstance(schema.get(key), int | float)]
    default = [f"default `{schema['default']}`"] if schema.get("default") not in (None, "", [], {}) else []
    meaning = str(schema.get("description", "")).replace("\n", " ").replace("|", "\\|")
    return ". ".join(part for part in (meaning.rstrip("."), ", ".join([*limits, *default])) if part)


LIMITS = {
    "minimum": "at least",
    "exclusiveMinimum": "more than",
    "maximum": "at most",
    "minLength": "characters, at least",
    "maxLength": "characters, at most",
    "minItems": "items, at least",
    "maxItems": "items, at most",
}

"""Entry: a `kind: http` entry as an owner writes it, read with everything that can be derived from it (S1-5, S1-7 … S1-26)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ferryman.declared import auth, check, references, urls
from ferryman.declared.fields import Fields, at, plain_problem
from ferryman.declared.references import STATE
from ferryman.declared.templates import Mode
from ferryman.domain.http import url
from ferryman.domain.http.request import BodyType, Method
from ferryman.domain.problem import InvalidInputError, Problem, build_input_error
from ferryman.domain.tools.declared import DECLARATION_BYTES_MAX, Declared, Parameter, Style

DISABLED = "switched off in its declaration"
STATUS_MIN = 200
SUMMARY_CHARACTERS_MAX = 120
_TEXT = {"type": "string"}
_OBJECT = {"type": "object"}
_TYPED = frozenset(("type", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if"))


def read(entry: Mapping[str, Any], *, where: str, mode: Mode = Mode.HOSTED) -> Declared:
    """The tool that `entry` declares, or `InvalidInputError` with every fault and its place below `where`.

    Hosts are not judged: which are approved is the task's to say (`check.hosts`).
    """
    if (found := plain_problem(entry, where, depth=check.DEPTH_MAX)) is not None:
        raise InvalidInputError([found])
    size = len(json.dumps(entry).encode())
    if size > DECLARATION_BYTES_MAX:
        raise build_input_error(where, f"must be at most {DECLARATION_BYTES_MAX} bytes as JSON, is {size}")
    problems: list[Problem] = []
    fields = Fields(entry, where, problems)
    kind = fields.text("kind")
    if kind not in ("", "http"):
        raise build_input_error(at(where, "kind"), "must be http")
    said = {
        "name": fields.text("name"),
        "description": fields.text("description", ""),
        "url": fields.text("url"),
        "method": fields.choice("method", Method.GET),
        "params": fields.mapping("params"),
        "query": fields.mapping("query"),
        "headers": fields.texts("headers"),
        "body_type": fields.choice("body_type", BodyType.JSON),
        "body": fields.take("body"),
        "ok_statuses": fields.statuses("ok_statuses", (), least=STATUS_MIN),
        "public_env": fields.names("public_env"),
    }
    login = fields.take("auth")
    declared = _declared(fields.mapping("parameters"), at(where, "parameters"), problems)
    enabled = fields.flag("enabled", True)
    token = None if login is None else auth.read(login, at(where, "auth"), problems)
    fields.end()
    if problems:
        raise InvalidInputError(problems)
    tool = Declared(
        **said,
        summary=_summary(said["description"]),
        auth=token,
        parameters=_derived(said, declared),
        enabled=enabled,
        reason=None if enabled else DISABLED,
    )
    if faults := check.rules(tool, where=where, mode=mode):
        raise InvalidInputError(faults)
    return tool


def _summary(description: str) -> str:
    return description.strip().partition("\n")[0].strip()[:SUMMARY_CHARACTERS_MAX]


def _declared(values: Mapping[str, Any], where: str, problems: list[Problem]) -> dict[str, tuple[dict[str, Any], Any, Style]]:
    """The `parameters` block: by name the schema, whether it is required (None: not said), and the style."""
    found = {}
    for name, value in values.items():
        if not isinstance(value, Mapping):
            problems.append(Problem(field=at(where, name), message="must be a JSON Schema, with `required` and `style`"))
            continue
        schema = dict(value)
        # `required` is ours where it is true or false; a list of names is JSON Schema's own, of an object's fields.
        required = schema.pop("required") if isinstance(schema.get("required"), bool) else None
        style = Fields({"style": schema.pop("style", None)}, at(where, name), problems).choice("style", Style.REPEAT)
        found[name] = (schema, required, style)
    return found


def _derived(said: Mapping[str, Any], declared: Mapping[str, tuple[dict[str, Any], Any, Style]]) -> dict[str, Parameter]:
    """All parameters: the placeholders', the templates' (S1-24), and those declared. What is pinned is none."""
    places, optional = _placeholders(said["url"])
    roots: dict[str, dict[str, Any]] = dict.fromkeys(places, _TEXT)
    placed = references.texts({key: said[key] for key in ("query", "headers", "body", "params")})
    for _, named, _ in references.names(placed):
        if named.store is None and (named.root in roots or named.root in declared or named.root not in STATE):
            roots[named.root] = _OBJECT if len(named.parts) > 1 else roots.get(named.root, _TEXT)
    found = {}
    for name in dict.fromkeys((*roots, *declared)):
        if name in said["params"] and name not in declared:
            continue
        schema, required, style = declared.get(name, ({}, None, Style.REPEAT))
        if not _TYPED & schema.keys():
            schema = {**roots.get(name, _TEXT), **schema}
        if required is None:
            required = name not in optional and "default" not in schema
        found[name] = Parameter(schema=schema, required=required, style=style)
    return found


def _placeholders(text: str) -> tuple[Iterable[str], frozenset[str]]:
    """The names that the URL has, and which of them it has as optional only."""
    try:
        address = urls.parse(text)
    except url.InvalidUrlError:
        return (), frozenset()  # the check tells
    query = list(address.in_query())
    required = {*address.in_path(), *(each.name for each in query if not each.optional)}
    return [*address.in_path(), *(each.name for each in query)], frozenset(each.name for each in query) - required

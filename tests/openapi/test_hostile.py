"""Hostile documents: whatever they say, there are bounded tools that go where the task may go, or a reason why not."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferryman.declared import check
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.tools.declared import DECLARATION_BYTES_MAX
from ferryman.openapi import DocumentImport, OpenApiTools, estimate_tokens, find_missing, read
from ferryman.openapi.context import ImportContext
from ferryman.openapi.document import read_tools
from ferryman.openapi.references import Node, References
from ferryman.openapi.schemas import NODES_MAX, Schemas
from ferryman.openapi.values import Notes
from tests.openapi.bombs import BOMBS, MANY, TOO_MUCH
from tests.openapi.documents import HOST, ROOT, document, swagger
from tests.openapi.petstore import PETSTORE

DOMAINS = [HOST, "petstore.test.example"]
CREDENTIALS = {"KEY": [HOST], "OTHER": ["petstore.test.example", "other.test"]}


def import_checked(root: Any) -> OpenApiTools | None:
    """Return the tools of `root`, checked for what every import guarantees; None where it is `InvalidInputError`."""
    try:
        assert all(item.startswith("https://") for item in find_missing({ROOT: root}, ROOT))
        result = read(DocumentImport(documents={ROOT: root}, root=ROOT, domains=DOMAINS, credentials=CREDENTIALS))
    except InvalidInputError:
        return None
    assert len({tool.name for tool in result.tools}) == len(result.tools)
    assert len(result.notes) <= 100
    assert all(len(note) < 1_000 and note.isprintable() for note in result.notes)
    for tool in result.tools:
        assert check.NAME.fullmatch(tool.name)
        assert (
            len(json.dumps([tool.description, tool.url, tool.schema, tool.query, tool.headers, tool.body]))
            < DECLARATION_BYTES_MAX
        )
        assert tool.enabled == (tool.reason is None)
        assert tool.reason is None or (0 < len(tool.reason) < 1_000 and tool.reason.isprintable())
        if tool.enabled:
            assert check.find_problems(tool, where="") == check.find_host_problems(tool, where="", domains=DOMAINS) == []
            host = tool.url.removeprefix("https://").partition("/")[0]
            assert all(host in CREDENTIALS[name] for name in check.find_credentials(tool))
    assert estimate_tokens(result.tools) >= 0
    return result


TEXTS = (
    *("{{secrets.KEY}}", "{x}", "\ud800", "#/paths", "#/components/schemas/A", "#", "other.json#/a", "https://api.shop.test"),
    *("string", "object", "array", "query", "path", "header", "cookie", "form", "deepObject", "apiKey", "http", "bearer"),
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.just(10**30), st.floats(), st.text(max_size=8), st.sampled_from(TEXTS)
)
WORDS = (
    *("type", "properties", "items", "allOf", "anyOf", "oneOf", "$ref", "required", "enum", "const", "default", "readOnly"),
    *("nullable", "additionalProperties", "format", "minimum", "maximum", "exclusiveMinimum", "maxLength", "description"),
    *("name", "in", "schema", "style", "explode", "content", "application/json", "application/x-www-form-urlencoded"),
    *("encoding", "parameters", "requestBody", "servers", "url", "variables", "security", "securitySchemes", "components"),
    *("schemas", "get", "post", "delete", "operationId", "summary", "scheme", "consumes", "host", "basePath", "schemes"),
    *("definitions", "info", "title", "paths"),
)
KEYS = st.one_of(st.sampled_from(WORDS), st.text(max_size=6), st.integers(0, 3))
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=20
)


@given(VALUES)
@settings(max_examples=20)
def test_any_value_is_imported_or_invalid(root):
    import_checked(root)


@given(VALUES, VALUES, VALUES, st.sampled_from(["get", "post", "delete"]), st.booleans())
@settings(max_examples=30)
def test_any_operation_is_imported_or_invalid(operation, components, more, method, old):
    operation = operation if isinstance(operation, dict) else {"requestBody": operation, "parameters": [operation]}
    root = (swagger if old else document)({"/a/{x}": {method: operation, "parameters": more}}, components=components)
    result = import_checked(root)
    assert result is not None
    assert len(result.tools) >= 1


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, item in inner for place in places(item, (*at, key)))]


PLACES = places(PETSTORE)[1:]


@given(st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=1, max_size=4))
@settings(max_examples=20)
def test_a_document_with_something_else_in_any_place_is_imported_or_invalid(changes):
    root = json.loads(json.dumps(PETSTORE))
    for place, value in changes:
        at = root
        # An earlier change may have taken the place away.
        with suppress(LookupError, TypeError):
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] = value
    import_checked(root)


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_imported_or_invalid(name):
    assert (import_checked(BOMBS[name]()) is None) == (name in TOO_MUCH)


def test_a_document_has_a_budget_of_schemas():
    notes = Notes()
    schemas = Schemas(References({}, ROOT), notes)
    schemas.nodes_left = 3
    views = {name: schemas.view(Node({"type": "array", "items": {"type": "string"}}, ROOT)) for name in "ab"}
    assert schemas.show(views) == {"a": {"type": "array", "items": {}}, "b": {}}
    assert schemas.nodes_left == 0
    assert "the document has more than" in notes.list_lines()[0]


def test_properties_and_enums_count_as_work_of_their_own():
    schemas = Schemas(References({}, ROOT), Notes())
    before = schemas.nodes_left
    schemas.view(Node({"properties": {f"p{index}": {} for index in range(200)}, "enum": MANY}, ROOT))
    assert before - schemas.nodes_left == 31


def test_all_schemas_of_a_document_have_one_budget():
    notes = Notes()
    schemas = Schemas(References({}, ROOT), notes)
    schemas.bytes_left = 300
    for _ in range(3):
        schema = schemas.show({"a": schemas.view(Node({"type": "string", "description": "d" * 80, "enum": ["x" * 50]}, ROOT))})
    assert schema == {"a": {"description": "d" * 80}} or schema == {"a": {}}
    assert schemas.bytes_left < 300
    assert "later ones are shown as anything" in notes.list_lines()[0]


def test_operations_behind_too_many_parameters_are_disabled():
    listed = [{"name": f"p{index}", "in": "query"} for index in range(100)]
    root = document({f"/{index}": {"get": {"parameters": listed}} for index in range(5)})
    context = ImportContext(DocumentImport(documents={ROOT: root}, root=ROOT, domains=DOMAINS))
    context.schemas.nodes_left = 3_000 - NODES_MAX // 4
    tools = read_tools(context, "c", ())
    assert [tool.enabled for tool in tools] == [True, True, False, False, False]
    assert tools[-1].reason == "is after more schemas and parameters than are read of one document"

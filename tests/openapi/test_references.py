"""References: within a document, to another one, and to where none may go."""

from __future__ import annotations

import pytest

from ferryman.openapi import DocumentImport, find_missing, read
from tests.openapi.documents import HOST, ROOT, document, only, post, posting, read_tools, schemas

BASE = ROOT.rpartition("/")[0]


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("#/components/schemas/A~1B", "A/B"),
        ("#/components/schemas/A~0B", "A~B"),
        ("#/components/schemas/A~01B", "A~1B"),
        ("#/components/schemas/A%20B", "A B"),
        ("#/components/schemas/%C3%A9", "é"),
    ],
)
def test_a_pointer_is_read_with_its_escapes(reference, name):
    tool = post(
        {"type": "object", "properties": {"a": {"$ref": reference}}}, components={"schemas": {name: {"type": "integer"}}}
    )
    assert schemas(tool) == {"a": {"type": "integer"}}


def test_a_pointer_goes_into_lists():
    tool = post({"type": "object", "properties": {"a": {"$ref": "#/x-list/1"}}}, **{"x-list": [{}, {"type": "integer"}]})
    assert schemas(tool) == {"a": {"type": "integer"}}


def test_parameters_bodies_and_path_items_are_referred_to():
    components = {
        "parameters": {"Q": {"name": "q", "in": "query", "schema": {"type": "string"}}},
        "requestBodies": {"B": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S"}}}}},
        "schemas": {"S": {"type": "object", "properties": {"s": {"type": "string"}}}},
        "pathItems": {
            "P": {
                "parameters": [{"$ref": "#/components/parameters/Q"}],
                "post": {"requestBody": {"$ref": "#/components/requestBodies/B"}},
            }
        },
    }
    tool = only(document({"/a": {"$ref": "#/components/pathItems/P"}}, components=components))
    assert (dict(tool.query), tool.body) == ({"q": "{{q}}"}, {"s": "{{s}}"})


def test_other_documents_are_asked_for_one_after_the_other():
    item = {"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "../schemas.yaml#/S"}}}}}}
    others = {"S": {"type": "object", "properties": {"t": {"$ref": "#/T"}}}, "T": {"type": "integer"}}
    documents = {ROOT: document({"/a": {"$ref": "paths/a.yaml"}, "/b": {"get": {}}})}
    assert find_missing(documents, ROOT) == [f"{BASE}/paths/a.yaml"]
    documents[f"{BASE}/paths/a.yaml"] = item
    assert find_missing(documents, ROOT) == [f"{BASE}/schemas.yaml"]
    documents[f"{BASE}/schemas.yaml"] = others
    assert find_missing(documents, ROOT) == []
    tool = read(DocumentImport(documents=documents, root=ROOT, domains=[HOST])).tools[0]
    assert schemas(tool) == {"t": {"type": "integer"}}


@pytest.mark.parametrize(
    ("root", "reference", "missing"),
    [
        (ROOT, "b.json", [f"{BASE}/b.json"]),
        (ROOT, "https://other.test/b.json#/A", ["https://other.test/b.json"]),
        (ROOT, "http://other.test/b.json", []),
        (ROOT, "file:///etc/passwd", []),
        (ROOT, "ftp://other.test/b", []),
        (ROOT, "//[::1", []),
        ("file:///home/a/spec.json", "b.json", ["file:///home/a/b.json"]),
        ("file:///home/a/spec.json", "sub/b.json", ["file:///home/a/sub/b.json"]),
        ("file:///home/a/spec.json", "../b.json", []),
        ("file:///home/a/spec.json", "%2e%2e/b.json", []),
        ("file:///home/a/spec.json", "file:///etc/passwd", []),
        ("file:///home/a/spec.json", "https://other.test/b.json", ["https://other.test/b.json"]),
    ],
)
def test_only_what_an_import_may_read_is_asked_for(root, reference, missing):
    spec = posting({"type": "object", "properties": {"a": {"$ref": reference}}})
    assert find_missing({root: spec}, root) == missing


def test_a_document_that_stays_away_is_told_and_leaves_anything():
    result = read_tools(posting({"type": "object", "properties": {"a": {"$ref": "b.json"}}}))
    assert schemas(result.tools[0]) == {"a": {}}
    assert any("b.json is referred to and is missing" in note for note in result.notes)


def test_a_parameter_or_body_that_is_not_there_disables_its_operation():
    reference = {"$ref": "#/components/gone"}
    assert "is missing" in only(document({"/a": {"get": {"parameters": [reference]}}})).reason
    assert "is missing" in only(document({"/a": {"post": {"requestBody": reference}}})).reason


@pytest.mark.parametrize("at", ["#/x", "#", "#/paths", "#/x-a", "x", "#x", "#/openapi/0", "#/x-a/9999999999999999999999"])
def test_a_reference_in_a_circle_or_to_nonsense_ends(at):
    root = posting({"type": "object", "properties": {"a": {"$ref": at}}}, **{"x-a": {"$ref": "#/x-a"}})
    root["paths"]["/c"] = {"$ref": "#/paths/~1c"}
    root["paths"]["/d"] = {"get": {"parameters": [{"$ref": at}, {"$ref": "#/x-a"}]}}
    assert [tool.name for tool in read_tools(root).tools] == ["make", "get_d"]

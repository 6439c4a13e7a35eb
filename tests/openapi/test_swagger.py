"""Swagger 2.0: a pet store of twenty operations, and what 2.0 says otherwise than 3."""

from __future__ import annotations

import pytest

from ferryman.domain.tools.declared import Style
from tests.openapi.documents import build, only, read_tools, swagger
from tests.openapi.petstore import PETSTORE

STORE = "petstore.test.example"


@pytest.fixture(scope="module")
def store():
    result = read_tools(PETSTORE, cluster="petstore", domains=[STORE], credentials={"PETSTORE_KEY": [STORE]})
    return {tool.name: tool for tool in result.tools}


def test_the_pet_store_has_twenty_operations(store):
    assert len(store) == 20
    assert {value.cluster for value in store.values()} == {"petstore"}


def test_a_pet_is_looked_up_by_its_number(store):
    outbound = build(store["getPetById"], petId=42)
    assert (outbound.method, outbound.url) == ("GET", "https://petstore.test.example/v2/pet/42")
    assert str(outbound.fixed_headers["api_key"]) == "{{secrets.PETSTORE_KEY}}"


def test_a_pet_is_looked_up_by_what_its_number_is_usually_called(store):
    assert build(store["getPetById"], id=42).url == "https://petstore.test.example/v2/pet/42"


def test_all_of_them_can_be_called(store):
    assert [(name, item.reason) for name, item in store.items() if not item.enabled] == []


def test_a_picture_is_uploaded_as_a_text(store):
    outbound = build(store["uploadFile"], petId=1, file="GIF89a", filename_file="rex.gif")
    part = {"content": "GIF89a", "filename": "rex.gif", "content_type": "application/octet-stream"}
    assert (outbound.body_type, outbound.body) == ("multipart", {"file": [part]})


def test_a_form_with_a_file_is_multipart_whatever_it_consumes():
    parameters = [
        {"name": "file", "in": "formData", "type": "file", "required": True},
        {"name": "ids", "in": "formData", "type": "array", "items": {"type": "integer"}},
    ]
    tool = only(swagger({"/a": {"post": {"parameters": parameters, "consumes": ["application/x-www-form-urlencoded"]}}}))
    body = build(tool, file="x", ids=[1, 2]).body
    assert body["ids"] == [{"content": "1,2"}]
    assert body["file"][0]["filename"] == "file.txt"


def test_a_body_is_said_field_by_field(store):
    outbound = build(store["addPet"], name="Rex", photoUrls=[], category={"id": 1})
    assert outbound.body == {"name": "Rex", "photoUrls": [], "category": {"id": 1}}
    assert sorted(store["addPet"].schema["required"]) == ["name", "photoUrls"]


def test_a_body_that_is_a_list_is_one_argument(store):
    users = [{"username": "ann"}]
    assert build(store["createUsersWithListInput"], body=users).body == users


def test_form_fields_are_a_form(store):
    outbound = build(store["updatePetWithForm"], petId=1, name="Rex")
    assert outbound.body_type == "form"
    assert outbound.body == {"name": "Rex"}


def test_a_field_that_is_named_like_a_parameter_gets_a_prefix(store):
    outbound = build(store["updateUser"], username="ann", body_username="anna")
    assert outbound.url.endswith("/user/ann")
    assert outbound.body == {"username": "anna"}


@pytest.mark.parametrize(
    ("collection", "style"),
    [("csv", Style.COMMA), ("ssv", Style.SPACE), ("pipes", Style.PIPE), ("multi", Style.REPEAT), (None, Style.COMMA)],
)
def test_a_list_is_written_as_its_collection_format_says(collection, style):
    parameter = {"name": "ids", "in": "query", "type": "array", "items": {"type": "string"}}
    if collection:
        parameter["collectionFormat"] = collection
    assert only(swagger({"/a": {"get": {"parameters": [parameter]}}})).parameters["ids"].style is style


def test_a_list_separated_by_tabs_disables_its_operation():
    parameter = {"name": "ids", "in": "query", "type": "array", "collectionFormat": "tsv"}
    assert "tabs" in only(swagger({"/a": {"get": {"parameters": [parameter]}}})).reason


def test_without_a_host_it_is_at_the_documents_own():
    tool = only({**swagger({"/a": {"get": {}}}), "host": None}, domains=["docs.shop.test"])
    assert tool.url == "https://docs.shop.test/v2/a"


def test_without_schemes_it_is_https():
    result = read_tools({**swagger({"/a": {"get": {}}}), "schemes": None})
    assert (result.tools[0].url, result.notes) == ("https://api.shop.test/v2/a", ())


def test_a_bearer_token_declared_as_a_key_is_sent_as_one():
    schemes = {"BearerToken": {"type": "apiKey", "in": "header", "name": "authorization"}}
    tool = only(
        swagger({"/a": {"get": {}}}, securityDefinitions=schemes, security=[{"BearerToken": []}]),
        credentials={"KEY": ["api.shop.test"]},
    )
    assert dict(tool.headers) == {"authorization": "Bearer {{secrets.KEY}}"}

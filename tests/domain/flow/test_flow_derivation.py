"""Derived signatures: what a definition says of a tool, of tools of any kind."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.catalog.tools import TOOLS
from ferryman.domain.flow.derivation import derive_built_in, derive_declared, derive_signature, narrow_by_method
from ferryman.domain.flow.signature import FlowSignature, correct_signature
from ferryman.domain.http.request import Method
from ferryman.domain.tools.correction import ArgumentRole, FlowCorrection
from ferryman.domain.tools.declared import DeclaredTool, Parameter
from tests.openapi.documents import read_tools
from tests.openapi.petstore import PETSTORE

TEXT = {"type": "string"}


def derive(name: str, *texts: str, description: str = "", **properties: Any) -> FlowSignature:
    """Return the signature of a tool with these arguments, the `texts` of type string."""
    schema = {"type": "object", "properties": {**dict.fromkeys(texts, TEXT), **properties}}
    return derive_signature(name, description, schema)


def list_deciding(signature: FlowSignature) -> set[str]:
    return {name for name, flow in signature.arguments.items() if flow.role is ArgumentRole.DECIDES}


@pytest.mark.parametrize(
    "name", ["get_issue", "listOrders", "memory_search", "file-read", "SearchHits", "db.query", "get_update"]
)
def test_a_name_that_begins_with_a_verb_of_reading_only_reads(name):
    assert not derive(name, "what").changes


@pytest.mark.parametrize(
    "name",
    [
        "create_issue",
        "closeTicket",
        "memory_add",
        "find_or_create_tag",
        "fetch_and_delete",
        "mark_read",
        "check_in",
        "frobnicate",
    ],
)
def test_any_other_name_has_an_effect(name):
    assert derive(name, "what").changes


def test_a_description_tells_where_a_name_has_no_verb():
    assert not derive("weather", "city", description="Returns the weather of a city.").changes


def test_a_description_that_says_more_is_believed():
    assert derive("get_invoice", "id", description="Returns the invoice. It also emails it to the customer.").changes


def test_a_tool_that_takes_a_program_does_not_only_read():
    assert derive("query_table", "sql").changes


def test_what_takes_something_away_destroys():
    assert derive("revokeToken", "id").destroys
    assert not derive("createToken", "id").destroys


@pytest.mark.parametrize("name", ["to", "assignee", "iban", "repo", "path", "amount", "order_id", "wallet", "anything"])
def test_what_is_not_recognized_decides(name):
    assert list_deciding(derive("send_it", name)) == {name}


@pytest.mark.parametrize("name", ["body", "text", "commitMessage", "issue_description", "due_date", "startTime", "limit"])
def test_content_and_details_do_not_decide(name):
    assert list_deciding(derive("send_it", name)) == set()


def test_the_key_of_what_is_written_decides_though_the_text_does_not():
    assert list_deciding(derive("edit_it", "message_id", "message")) == {"message_id"}


@pytest.mark.parametrize(
    "schema", [{"type": "boolean"}, {"enum": ["low", "high"]}, {"anyOf": [{"enum": ["a"]}, {"type": "null"}]}]
)
def test_a_choice_does_not_decide(schema):
    assert list_deciding(derive("set_it", level=schema)) == set()


def test_a_choice_among_receivers_decides():
    assert list_deciding(derive("send_it", channel={"enum": ["news", "private"]})) == {"channel"}


def test_a_choice_behind_a_reference_is_one():
    schema = {"properties": {"level": {"$ref": "#/$defs/Level"}}, "$defs": {"Level": {"enum": ["low", "high"]}}}
    assert list_deciding(derive_signature("set_it", "", schema)) == set()


def test_a_schema_that_refers_to_itself_ends():
    schema = {"properties": {"level": {"$ref": "#/$defs/Level"}}, "$defs": {"Level": {"$ref": "#/$defs/Level"}}}
    assert list_deciding(derive_signature("set_it", "", schema)) == {"level"}


def test_a_tool_that_reads_where_its_argument_says_sends():
    signature = derive("read_page", "url", "language")
    assert (signature.changes, signature.sends, list_deciding(signature)) == (False, True, {"url"})


def test_the_arguments_of_a_tool_that_reads_decide_nothing():
    assert list_deciding(derive("search_orders", "customer")) == set()


@pytest.mark.parametrize(
    ("name", "is_people"), [("search_contacts", True), ("get_contact_by_name", True), ("get_contact_page", False)]
)
def test_contacts_are_written_by_people(name, is_people):
    assert derive_signature(name, "", {}, is_own=True).reads_people is is_people


def test_a_strangers_definition_is_not_believed_that_people_wrote_what_it_reads():
    assert not derive_signature("search_contacts", "", {}).reads_people


@pytest.mark.parametrize(
    ("method", "changes"), [("GET", False), ("HEAD", False), ("POST", True), ("PUT", True), ("DELETE", True)]
)
def test_a_method_that_is_not_safe_is_an_effect(method, changes):
    assert derive_signature("status", "", {}, method=method).changes is changes


def test_a_safe_method_does_not_hide_an_effect_that_the_name_says():
    assert derive_signature("sendPing", "", {}, method="GET").changes


def declare(url: str, *names: str, method: Method = Method.POST) -> FlowSignature:
    parameters = {name: Parameter(schema=TEXT) for name in names}
    return derive_declared(DeclaredTool(name="do_it", url=url, method=method, parameters=parameters))


def test_what_is_in_the_path_of_an_effect_decides_whatever_its_name():
    assert list_deciding(declare("https://a.test/notes/{text}", "text", "body")) == {"text"}


def test_what_is_in_the_host_decides_where_a_tool_reads():
    signature = declare("https://{region}.a.test/items", "region", method=Method.GET)
    assert (signature.changes, signature.sends, list_deciding(signature)) == (False, True, {"region"})


def test_the_pets_of_an_imported_document_are_read_and_changed():
    store = "petstore.test.example"
    imported = read_tools(PETSTORE, cluster="petstore", domains=[store], credentials={"PETSTORE_KEY": [store]}).tools
    tools = {tool.name: derive_declared(tool) for tool in imported}
    changing = {name for name, signature in tools.items() if signature.changes}
    assert {"getPetById", "findPetsByStatus", "getInventory"}.isdisjoint(changing)
    assert {"addPet", "updatePet", "deletePet", "placeOrder", "deleteOrder"} <= changing
    assert "petId" in list_deciding(tools["deletePet"])


def test_the_catalog_says_what_a_built_in_tool_changes():
    assert not derive_built_in(TOOLS["file_read"]).has_effect
    assert derive_built_in(TOOLS["file_write"]).changes
    assert list_deciding(derive_built_in(TOOLS["file_write"])) == {"key"}


@pytest.mark.parametrize("tool", [tool for tool in TOOLS.values() if not tool.policy.changes], ids=lambda tool: tool.name)
def test_a_built_in_tool_that_only_reads_has_no_effect(tool):
    assert not derive_built_in(tool).has_effect


@pytest.mark.parametrize(
    ("method", "changes", "destroys"), [("GET", False, False), ("POST", True, False), ("DELETE", True, True)]
)
def test_the_method_of_a_call_says_whether_it_changes_something(method, changes, destroys):
    tool = TOOLS["api_call"]
    signature = narrow_by_method(derive_built_in(tool), tool, {"method": method})
    assert (signature.has_effect, signature.destroys) == (changes, destroys)
    assert ("method" in list_deciding(signature)) is (method != "POST")


def test_a_method_that_is_none_of_http_changes_something():
    tool = TOOLS["api_call"]
    assert narrow_by_method(derive_built_in(tool), tool, {"method": "get"}).changes
    assert narrow_by_method(derive_built_in(tool), tool, {}).changes


def test_a_method_among_other_arguments_than_those_of_a_request_says_nothing():
    tool = TOOLS["file_write"]
    assert narrow_by_method(derive_built_in(tool), tool, {"method": "GET"}).changes


def test_what_the_owner_alone_reads_is_free():
    arguments = derive_built_in(TOOLS["file_write"]).arguments
    assert arguments["content"].role is ArgumentRole.FREE


def test_a_body_decides_by_the_names_in_it():
    assert not derive_built_in(TOOLS["http_post"]).find_flow("body").is_whole
    assert derive_built_in(TOOLS["http_post"]).find_flow("url").is_whole


def test_the_owner_corrects_what_was_derived():
    correction = FlowCorrection(changes=False, roles={"title": ArgumentRole.CONTENT})
    corrected = correct_signature(derive("create_it", "title", "room"), correction)
    assert (corrected.changes, list_deciding(corrected)) == (False, {"room"})

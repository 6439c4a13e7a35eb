"""Operations: names, parameters and bodies, as what is sent when their tools are called."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.declared import check
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.problem import InvalidInputError
from ferryman.domain.tools.declared import Style
from ferryman.openapi import DocumentImport, estimate_tokens, find_missing, read
from tests.openapi.documents import HOST, ROOT, build, document, get, only, post, read_tools, schemas


def list_names(*operations: tuple[str, str, str | None]) -> list[str]:
    paths: dict[str, dict[str, dict[str, str]]] = {}
    for method, path, name in operations:
        paths.setdefault(path, {})[method] = {} if name is None else {"operationId": name}
    return [tool.name for tool in read_tools(document(paths)).tools]


@pytest.mark.parametrize(
    ("operation_id", "name"),
    [
        ("getPetById", "getPetById"),
        ("repos/get-all", "repos_get-all"),
        ("2fa.enable", "_2fa_enable"),
        ("名", "get_pets_pet_id"),
        (None, "get_pets_pet_id"),
        ("x" * 100, "x" * 64),
        ("api_call", "api_call_2"),
        ("_private", "_private"),
    ],
)
def test_the_operation_id_made_to_fit_is_the_name(operation_id, name):
    assert list_names(("get", "/pets/{petId}", operation_id)) == [name]


def test_names_are_told_apart_by_a_number():
    assert list_names(("get", "/a", "x"), ("get", "/b", "x"), ("get", "/c", "x_2"), ("get", "/d", "x")) == [
        "x",
        "x_2",
        "x_2_2",
        "x_3",
    ]


def test_names_that_others_have_are_not_taken():
    assert only(document({"/a": {"get": {"operationId": "mine"}}}), reserved=["mine"]).name == "mine_2"


def test_the_cluster_is_the_title_where_none_is_named():
    assert read_tools(document({"/a": {"get": {}}})).cluster == "Shop"
    assert read_tools(document({"/a": {"get": {}}}), cluster="  mine ").tools[0].cluster == "mine"
    assert read_tools(document({"/a": {"get": {}}}, info={"title": "x" * 100})).cluster == "x" * 63 + "…"


def test_parameters_go_where_they_are_declared():
    outbound = build(
        get(
            {"name": "pet-id", "in": "path", "required": True, "schema": {"type": "integer"}},
            {"name": "filter[name]", "in": "query", "schema": {"type": "string"}},
            {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
            path="/pets/{pet-id}",
        ),
        pet_id=42,
        filter_name="a b",
        X_Trace="t",
    )
    assert outbound.url == f"https://{HOST}/v1/pets/42"
    assert outbound.query_params == {"filter[name]": "a b"}
    assert {**outbound.headers, **outbound.fixed_headers} == {"X-Trace": "t"}


def test_what_is_declared_for_the_query_goes_there_for_every_method():
    parameter = {"name": "q", "in": "query", "schema": {"type": "string"}}
    for method in ("get", "post", "put", "patch", "delete", "head"):
        tool = only(document({"/a": {method: {"parameters": [parameter]}}}))
        assert dict(tool.query) == {"q": "{{q}}"}
        assert tool.body is None


def test_an_operations_parameter_goes_before_its_paths():
    item = {"parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}], "get": {}}
    item["get"] = {"parameters": [{"name": "q", "in": "query", "required": True, "schema": {"type": "integer"}}]}
    tool = only(document({"/a": item}))
    assert (schemas(tool), tool.parameters["q"].required) == ({"q": {"type": "integer"}}, True)


def test_one_name_in_two_places_is_two_arguments():
    parameters = [{"name": "id", "in": place, "required": True, "schema": {"type": "string"}} for place in ("path", "query")]
    tool = get(*parameters, path="/a/{id}")
    assert list(tool.parameters) == ["id", "query_id"]
    assert dict(tool.query) == {"id": "{{query_id}}"}


def test_a_path_parameter_that_is_not_declared_is_a_text():
    assert build(get(path="/a/{b}"), b="c").url.endswith("/a/c")


def test_a_value_does_not_leave_its_segment():
    assert build(get(path="/a/{b}"), b="c?d#e").url.endswith("/a/c%3Fd%23e")
    with pytest.raises(CallRefusedError):
        build(get(path="/a/{b}"), b="../c")


@pytest.mark.parametrize("name", ["Accept", "content-type", "AUTHORIZATION"])
def test_headers_that_openapi_reserves_are_ignored(name):
    tool = get({"name": name, "in": "header", "required": True, "schema": {"type": "string"}})
    assert (tool.enabled, dict(tool.headers), dict(tool.parameters)) == (True, {}, {})


@pytest.mark.parametrize("name", ["Host", "X-Forwarded-For", "Cookie", "transfer_encoding", "a b", "x\r\ny"])
def test_a_header_that_frames_the_request_is_not_the_models_to_set(name):
    parameter = {"name": name, "in": "header", "schema": {"type": "string"}}
    assert dict(get(parameter).headers) == {}
    assert get({**parameter, "required": True}).enabled is False


def test_a_cookie_is_left_out_or_disables_its_operation():
    cookie = {"name": "session", "in": "cookie", "schema": {"type": "string"}}
    result = read_tools(document({"/a": {"get": {"operationId": "x", "parameters": [cookie]}}}))
    assert (result.tools[0].enabled, result.notes) == (True, ("x: takes a cookie, which is not sent: it is left out",))
    assert get({**cookie, "required": True}).reason == "takes a cookie, which is not sent"


@pytest.mark.parametrize(
    ("options", "style"),
    [
        ({}, Style.REPEAT),
        ({"explode": False}, Style.COMMA),
        ({"style": "spaceDelimited"}, Style.SPACE),
        ({"style": "pipeDelimited", "explode": False}, Style.PIPE),
        ({"style": "pipeDelimited", "explode": True}, Style.REPEAT),
        ({"style": "deepObject", "explode": True}, Style.DEEP),
    ],
)
def test_a_list_is_written_as_its_style_says(options, style):
    assert get({"name": "a", "in": "query", "schema": {"type": "array"}, **options}).parameters["a"].style is style


@pytest.mark.parametrize(("place", "style"), [("path", "matrix"), ("path", "label"), ("query", "new"), ("query", ["form"])])
def test_a_style_that_is_not_written_disables_its_operation(place, style):
    tool = get({"name": "a", "in": place, "schema": {"type": "array"}, "style": style}, path="/a/{a}")
    assert "style" in tool.reason


def test_a_parameter_that_is_a_document_is_said_as_a_text():
    tool = get({"name": "filter", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}})
    assert schemas(tool) == {"filter": {"type": "string", "description": "A text of application/json."}}


def test_fields_of_a_body_are_arguments():
    tool = post({"type": "object", "required": ["a-b"], "properties": {"a-b": {"type": "string"}, "c": {"type": "integer"}}})
    assert tool.schema["required"] == ["a_b"]
    assert build(tool, a_b="x").body == {"a-b": "x"}
    assert build(tool, a_b="x", c=1).body == {"a-b": "x", "c": 1}


def test_fields_come_from_all_that_a_body_is_all_of():
    schema = {"allOf": [{"$ref": "#/components/schemas/A"}, {"properties": {"b": {"type": "integer"}}, "required": ["b"]}]}
    tool = post(schema, components={"schemas": {"A": {"type": "object", "properties": {"a": {"type": "string"}}}}})
    assert schemas(tool) == {"b": {"type": "integer"}, "a": {"type": "string"}}


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"type": "string"},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"oneOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"b": {}}}]},
        {"type": "object", "properties": {"a": {}}, "oneOf": [{"properties": {"b": {}}}, {"properties": {"c": {}}}]},
        True,
        {},
    ],
)
def test_any_other_body_is_one_argument(schema):
    tool = post(schema)
    assert (list(tool.parameters), tool.body) == (["body"], "{{body}}")


def test_alternatives_that_only_ask_for_fields_do_not_keep_a_body_whole():
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert list(post(schema).parameters) == ["a", "b"]


def test_read_only_fields_are_left_out():
    schema = {"type": "object", "required": ["id", "a"], "properties": {"id": {"readOnly": True}, "a": {"type": "string"}}}
    assert post(schema).schema["required"] == ["a"]


def body(content, method="post", **more):
    return only(document({"/a": {method: {"requestBody": {"content": content, **more}}}}))


FIELDS = {"schema": {"type": "object", "properties": {"a": {"type": "string"}, "o": {"type": "object"}}}}


def test_a_form_is_sent_as_a_form():
    tool = body({"application/x-www-form-urlencoded": FIELDS})
    assert (tool.body_type, dict(tool.body)) == ("form", {"a": "{{a}}", "o": "{{o}}"})
    assert tool.parameters["o"].style is Style.DEEP


@pytest.mark.parametrize(
    ("media", "sent_as"),
    [
        ("application/json; charset=utf-8", None),
        ("*/*", None),
        ("application/merge-patch+json", "application/merge-patch+json"),
        ("application/vnd.api+json", "application/vnd.api+json"),
    ],
)
def test_the_media_type_is_said_where_it_is_not_plain_json(media, sent_as):
    tool = body({"text/xml": {}, media: FIELDS})
    assert (tool.enabled, tool.headers.get("Content-Type")) == (True, sent_as)


@pytest.mark.parametrize("media", ["multipart/mixed", "application/octet-stream", "text/xml", "application/x+json\r\nHost: a"])
def test_a_body_that_is_neither_json_nor_a_form_disables_its_operation(media):
    assert "is not sent: only JSON, forms and multipart/form-data are" in body({media: FIELDS}).reason


def upload(properties, *, encoding=None, **schema):
    content = {"schema": {"type": "object", "properties": properties, **schema}, "encoding": encoding or {}}
    return body({"multipart/form-data": content})


@pytest.mark.parametrize(
    ("schema", "encoding", "media"),
    [
        ({"type": "string", "format": "binary"}, {}, "application/octet-stream"),
        ({"contentMediaType": "image/png"}, {}, "application/octet-stream"),
        ({"type": "string"}, {"contentType": "image/png, image/jpeg"}, "image/png"),
        ({"type": "string", "format": "binary"}, {"contentType": "image/*"}, "application/octet-stream"),
        ({"type": "string", "format": "binary"}, {"contentType": "text/csv"}, "text/csv"),
        ({"type": "string", "format": "binary"}, {"contentType": "a/b\r\nX-Evil: 1"}, "application/octet-stream"),
    ],
)
def test_a_file_is_made_of_a_text_and_has_a_name(schema, encoding, media):
    tool = upload({"file": schema, "title": {"type": "string"}}, encoding={"file": encoding}, required=["file"])
    assert (tool.enabled, tool.schema["required"]) == (True, ["file"])
    sent = build(tool, file="a,b", filename_file="x.csv", title="t")
    assert sent.body_type == "multipart"
    assert sent.body == {
        "file": [{"content": "a,b", "content_type": media, "filename": "x.csv"}],
        "title": [{"content": "t"}],
    }
    assert build(tool, file="a").body["file"][0]["filename"] == "file.txt"
    assert schemas(tool)["file"]["description"] == "The text of the file."


def test_files_of_one_name_are_numbered():
    tool = upload({"files[]": {"type": "array", "items": {"type": "string", "format": "binary"}}})
    names = [part["filename"] for part in build(tool, files=["a", "b"]).body["files[]"]]
    assert names == ["1-file.txt", "2-file.txt"]


def test_an_object_in_a_multipart_body_is_json_and_a_list_is_a_part_for_each_item():
    tool = upload({"meta": {"type": "object"}, "tags": {"type": "array", "items": {"type": "string"}}})
    assert build(tool, meta={"a": 1}, tags=["x", "y"]).body == {
        "meta": [{"content": {"a": 1}}],
        "tags": [{"content": "x"}, {"content": "y"}],
    }


def test_a_multipart_body_without_fields_is_one_object():
    assert build(body({"multipart/form-data": {}}), body={"a": 1}).body == {"a": [{"content": "1"}]}


def test_a_field_that_no_part_may_be_called_disables_its_operation():
    assert "name cannot be sent" in upload({'a"; filename="b': {"type": "string"}}).reason


def test_a_plain_form_with_a_file_disables_its_operation():
    form = {"schema": {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}}
    assert "only multipart/form-data has files" in body({"application/x-www-form-urlencoded": form}).reason


def test_a_delete_sends_its_body_where_there_is_something_in_it():
    tool = body({"application/json": FIELDS}, "delete", required=True)
    assert (tool.enabled, build(tool, a="x").body, build(tool).body) == (True, {"a": "x"}, None)


@pytest.mark.parametrize("method", ["get", "head"])
def test_get_and_head_send_no_body(method):
    assert body({"application/json": FIELDS}, method).body is None
    assert body({"application/json": FIELDS}, method).enabled
    assert "takes a body" in body({"application/json": FIELDS}, method, required=True).reason


def test_methods_that_no_tool_has_are_left_out():
    result = read_tools(document({"/a": {"get": {}, "options": {}, "trace": {}}}))
    assert (len(result.tools), result.notes) == (1, ("OPTIONS, TRACE and QUERY operations are left out",))


def test_optional_parameters_beyond_the_limit_are_left_out():
    parameters = [{"name": f"p{index}", "in": "query", "required": index == 149, "schema": {}} for index in range(150)]
    tool = get(*parameters)
    assert (tool.enabled, len(tool.parameters), "p149" in tool.parameters) == (True, check.PARAMETERS_MAX, True)
    assert get(*[{**item, "required": True} for item in parameters]).enabled is False


@pytest.mark.parametrize("name", ["{{secrets.KEY}}", "a{{b", "", "x" * 200, "a\nb"])
def test_a_name_is_never_a_template(name):
    for tool in (get({"name": name, "in": "query", "schema": {}}), post({"type": "object", "properties": {name: {}, "a": {}}})):
        assert check.find_credentials(tool) == frozenset()
        assert name not in tool.query


@pytest.mark.parametrize(
    "path", ["/{{secrets.KEY}}", "/a{?b}", "/a/../../b", "/{a?}", "/a}{b", "/a b/é", "/" + "x" * 5_000, "//evil.test/x"]
)
def test_a_path_is_never_a_template_of_ours(path):
    tool = get(path=path)
    if tool.enabled:
        assert check.find_problems(tool, where="") == []
        assert re.match(rf"https://{re.escape(HOST)}/v1/", tool.url)
    assert len(tool.url) < 3_000


def test_what_a_document_says_of_itself_is_bounded_and_visible():
    tool = only(document({"/a": {"get": {"summary": "s\u200b\n\x00" + "s" * 500, "description": "d\u202e" * 100_000}}}))
    assert tool.summary.isprintable()
    assert tool.description.isprintable()
    assert (len(tool.summary), len(tool.description)) == (120, 1_000)


def test_the_cost_in_tokens_is_that_of_the_enabled_tools():
    paths = {
        "/a": {"get": {"operationId": "a"}},
        "/b": {"get": {"operationId": "b", "servers": [{"url": "https://other.test"}]}},
    }
    tools = read_tools(document(paths)).tools
    assert [tool.enabled for tool in tools] == [True, False]
    assert estimate_tokens(tools) == estimate_tokens(tools[:1]) > 20
    assert estimate_tokens(tools[1:]) == 0


@pytest.mark.parametrize(
    "root",
    [
        None, [], "x", {}, {"openapi": "4.0"}, {"openapi": ["3.0"]}, {"swagger": "1.2"}, {"swagger": "3.0"}, document({}),
        document([]), document({"/a": []}), document({"/a": {"get": 3}}),
    ],
)  # fmt: skip
def test_what_is_no_such_document_is_invalid(root):
    with pytest.raises(InvalidInputError):
        read(DocumentImport(documents={ROOT: root}, root=ROOT))
    with pytest.raises(InvalidInputError):
        find_missing({ROOT: root}, ROOT)


MANY = document({f"/{index}": {"get": {"operationId": f"get{index}"}} for index in range(2_001)})


def test_more_operations_than_a_task_may_have_tools_are_imported_in_part():
    with pytest.raises(InvalidInputError, match="more than 2,000 operations"):
        read(DocumentImport(documents={ROOT: MANY}, root=ROOT))
    imported = read(DocumentImport(documents={ROOT: MANY}, root=ROOT, only=["get1?"]))
    assert [tool.name for tool in imported.tools] == [f"get1{digit}" for digit in range(10)]


@given(st.lists(st.text(max_size=20), max_size=3), st.lists(st.text(max_size=20), max_size=3))
def test_whatever_is_selected_its_tools_are_those_of_the_whole_document(patterns, tags):
    root = document({path: {"get": {"tags": ["a", 1, None]}, "post": {"tags": "a"}} for path in ("/a", "/a/b", "/*")})
    whole = {tool.name: tool for tool in read(DocumentImport(documents={ROOT: root}, root=ROOT)).tools}
    try:
        some = read(DocumentImport(documents={ROOT: root}, root=ROOT, only=patterns, tags=tags)).tools
    except InvalidInputError:
        some = ()  # none fits
    assert all(whole[tool.name] == tool for tool in some)


@pytest.mark.parametrize("version", ["3.0", "3.0.4", "3.1", "3.1.1", 3.1])
def test_versions_three_nought_and_three_one_are_read(version):
    assert only(document({"/a": {"get": {}}}, version)).enabled


@pytest.mark.parametrize("name", ["X-Hasura-Role", "X-Consumer-Username", "x_ms_client_principal", "Impersonate-User"])
def test_a_header_that_tells_who_asks_is_not_the_models_to_say(name):
    parameter = {"name": name, "in": "header", "schema": {"type": "string"}}
    tool = get(parameter)
    assert (tool.enabled, dict(tool.headers), dict(tool.parameters)) == (True, {}, {})
    tool = get({**parameter, "required": True})
    assert (tool.enabled, "tells a service who asks" in (tool.reason or "")) == (False, True)


def test_each_operation_that_is_read_is_counted_of_all_that_are_selected() -> None:
    counts: list[tuple[int, int]] = []
    source = DocumentImport(documents={ROOT: MANY}, root=ROOT, only=["get1?"], count=lambda *count: counts.append(count))
    assert [*range(1, 1 + len(read(source).tools))] == [done for done, _ in counts]
    assert {total for _, total in counts} == {len(counts)}

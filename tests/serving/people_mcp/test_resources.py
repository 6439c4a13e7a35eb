"""Files as resources, and the completion of their keys: of one workspace, for who may read."""

from __future__ import annotations

import base64
from hashlib import sha256

import pytest

from ferryman.serving.api.mcp.resources import CONTENT_BYTES_MAX, TEMPLATE, name_resource, parse_uri
from ferryman.serving.mcp import McpError
from tests.serving.mcp.client import Answer
from tests.serving.people_mcp.stage import McpStage

HERE = {"type": "ref/resource", "uri": TEMPLATE}
ELSEWHERE = {"Ferryman-Workspace": "ws_ann"}


async def put(people: McpStage, key: str, content: bytes = b"Hello.", content_type: str = "text/markdown") -> str:
    await people.files.write(people.workspace, key, content, content_type=content_type, write=sha256(key.encode()).hexdigest())
    return name_resource(key)


async def read(people: McpStage, uri: str) -> Answer:
    return await people.client().call("resources/read", {"uri": uri})


@pytest.fixture
def people(people: McpStage) -> McpStage:
    people.objects._objects.clear()
    return people


@pytest.mark.parametrize("key", ["a.md", "notes/trip.md", "a b/100%/ü?#.md", "😀/1"])
def test_a_uri_names_the_key_that_it_was_made_of(key: str) -> None:
    assert parse_uri(name_resource(key)) == key


@pytest.mark.parametrize(
    "uri",
    [
        "ferryman://files/",
        "ferryman://files/../a",
        "ferryman://files/%2e%2e/a",
        "ferryman://files/a//b",
        "ferryman://files/%ff",
        "ferryman://others/a",
        "file:///etc/passwd",
        "ferryman://files/" + "a" * 513,
    ],
)
def test_another_spelling_names_no_file(uri: str) -> None:
    with pytest.raises(McpError, match="Resource not found"):
        parse_uri(uri)


async def test_files_are_listed_page_by_page(people: McpStage) -> None:
    uris = [await put(people, f"notes/{number:03}.md") for number in range(102)]
    first = (await people.client().call("resources/list")).result
    rest = (await people.client().call("resources/list", {"cursor": first["nextCursor"]})).result
    assert [entry["uri"] for entry in (*first["resources"], *rest["resources"])] == uris
    assert "nextCursor" not in rest


async def test_a_cursor_of_no_list_is_refused(people: McpStage) -> None:
    for method in ("resources/list", "resources/templates/list", "prompts/list"):
        assert (await people.client().call(method, {"cursor": "bm9uZQ=="})).code == -32602


async def test_a_listed_file_has_its_size_and_when_it_changed(people: McpStage) -> None:
    await put(people, "notes/trip.md")
    entry = (await people.client().call("resources/list")).result["resources"][0]
    assert (entry["name"], entry["title"], entry["size"]) == ("notes/trip.md", "trip.md", 6)
    assert entry["annotations"] == {"lastModified": "2026-11-21T12:00:00Z"}


async def test_a_text_is_read_as_text(people: McpStage) -> None:
    uri = await put(people, "a b/ü.md", "Grüße".encode())
    assert (await read(people, uri)).result["contents"] == [{"uri": uri, "mimeType": "text/markdown", "text": "Grüße"}]


@pytest.mark.parametrize(("content", "content_type"), [(b"\xff\xfe", "text/plain"), (b"plain", "image/png")])
async def test_what_is_no_text_is_read_in_base64(people: McpStage, content: bytes, content_type: str) -> None:
    uri = await put(people, "a.bin", content, content_type)
    assert base64.b64decode((await read(people, uri)).result["contents"][0]["blob"]) == content


async def test_an_empty_file_is_read(people: McpStage) -> None:
    assert (await read(people, await put(people, "a.md", b""))).result["contents"][0]["text"] == ""


async def test_a_file_as_long_as_may_be_is_read_and_a_longer_one_refused_with_where_it_is_downloaded(people: McpStage) -> None:
    longest = await put(people, "a.md", b"a" * CONTENT_BYTES_MAX)
    assert len((await read(people, longest)).result["contents"][0]["text"]) == CONTENT_BYTES_MAX
    answer = await read(people, await put(people, "b.md", b"a" * (CONTENT_BYTES_MAX + 1)))
    assert answer.code == -32602
    assert "1,000,001 bytes" in answer.error["message"]
    assert "/v1/files/b.md" in answer.error["message"]


async def test_a_file_that_is_not_there_is_named_in_the_error(people: McpStage) -> None:
    answer = await read(people, name_resource("a.md"))
    assert (answer.code, answer.error["data"]) == (-32602, {"uri": name_resource("a.md")})


async def test_another_workspace_and_another_owner_find_nothing(people: McpStage) -> None:
    uri = await put(people, "a.md")
    for headers in ({**people.headers, **ELSEWHERE}, people.owner("bob")):
        client = people.client(headers)
        listed = (await client.call("resources/list")).result["resources"]
        assert uri not in [entry["uri"] for entry in listed]
        assert (await client.call("resources/read", {"uri": uri})).error == {
            "code": -32602,
            "message": "Resource not found",
            "data": {"uri": uri},
        }


async def test_the_one_template_takes_a_key(people: McpStage) -> None:
    templates = (await people.client().call("resources/templates/list")).result["resourceTemplates"]
    assert [template["uriTemplate"] for template in templates] == [TEMPLATE]


async def test_keys_are_completed(people: McpStage) -> None:
    for key in ("notes/a.md", "notes/b.md", "other.md"):
        await put(people, key)
    params = {"ref": HERE, "argument": {"name": "key", "value": "notes/"}}
    completion = (await people.client().call("completion/complete", params)).result["completion"]
    assert completion == {"values": ["notes/a.md", "notes/b.md"], "hasMore": False, "total": 2}


async def test_no_more_than_a_hundred_keys_are_told(people: McpStage) -> None:
    for number in range(101):
        await put(people, f"{number:03}.md")
    params = {"ref": HERE, "argument": {"name": "key", "value": ""}}
    completion = (await people.client().call("completion/complete", params)).result["completion"]
    assert (len(completion["values"]), completion["hasMore"], "total" in completion) == (100, True, False)


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({}, "argument"),
        ({"ref": HERE, "argument": {"name": "key", "value": 1}}, "argument"),
        ({"ref": HERE, "argument": {"name": "key", "value": "a" * 4_097}}, "4,096"),
        ({"ref": HERE, "argument": {"name": "path", "value": ""}}, "argument.name"),
        ({"ref": {"type": "ref/tool"}, "argument": {"name": "key", "value": ""}}, "ref.type"),
        ({"ref": {"type": "ref/resource", "uri": "file:///{a}"}, "argument": {"name": "a", "value": ""}}, "ref.uri"),
        ({"ref": {"type": "ref/prompt", "name": "none"}, "argument": {"name": "input", "value": ""}}, "ref.name"),
    ],
)
async def test_a_completion_of_nothing_there_is_refused(people: McpStage, params: dict[str, object], named: str) -> None:
    answer = await people.client().call("completion/complete", params)
    assert answer.code == -32602
    assert named in answer.error["message"]

"""Managing custom tools: importing replaces one cluster, deleting removes one, and the model reads what was done."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ferryman.domain.calls.part import PartKind

from .harness import HOST, KEY, SPEC, CustomToolHarness, document, tool


async def imports(harness: CustomToolHarness, text: str, status: int = 200, **arguments: Any):
    harness.documents[SPEC] = (status, text)
    return await harness.call("import_openapi_tools", url=SPEC, **arguments)


async def test_an_import_stores_a_tool_for_each_operation(harness: CustomToolHarness) -> None:
    await imports(harness, document("one", "two"))
    assert [(tool.name, tool.cluster) for tool in await harness.clusters.tools("t")] == [("one", "Shop"), ("two", "Shop")]


async def test_an_import_tells_the_names_in_a_frame(harness: CustomToolHarness) -> None:
    result = await imports(harness, document("one"))
    assert result.content.startswith('<tool_response id="0000000000000000" truncated="false">')
    assert ('"tools": ["one"]' in result.content, result.ok) == (True, True)


async def test_an_import_goes_under_the_name_that_was_asked_for(harness: CustomToolHarness) -> None:
    await imports(harness, document("one"), cluster="mine")
    assert [cluster.name for cluster in await harness.clusters.list("t")] == ["mine"]


async def test_an_import_of_some_operations_stores_these_alone(harness: CustomToolHarness) -> None:
    await imports(harness, document("getOne", "getTwo", "putOne"), only=["get*"])
    assert await harness.names() == ["getOne", "getTwo"]


async def test_an_import_by_a_tag_that_nothing_has_stores_nothing(harness: CustomToolHarness) -> None:
    result = await imports(harness, document("one"), tags=["admin"])
    assert (await harness.names(), result.ok, result.code) == ([], False, "nothing_imported")


async def test_a_selection_that_is_no_list_of_names_is_refused(harness: CustomToolHarness) -> None:
    for wrong in ("get*", [7], [""], ["x"] * 21):
        assert (await imports(harness, document("one"), only=wrong)).block_reason == "invalid_arguments"


async def test_importing_again_replaces_the_cluster(harness: CustomToolHarness) -> None:
    await imports(harness, document("one", "two"))
    await imports(harness, document("two", "three"))
    assert await harness.names() == ["two", "three"]


async def test_importing_leaves_other_clusters_and_names_alone(harness: CustomToolHarness) -> None:
    await harness.store(tool("one"), tool("own"))
    await imports(harness, document("one"))
    assert await harness.names() == ["one", "own", "one_2"]
    assert (await harness.clusters.find("t", "one")) == tool("one")


async def test_an_imported_tool_can_be_called_at_once(harness: CustomToolHarness) -> None:
    await imports(harness, document("one"))
    await harness.call("call_custom_tool", toolName="one")
    assert [request.url for request in harness.sent] == [f"https://{HOST}/one"]


async def test_operations_on_a_host_that_is_not_approved_are_disabled_and_told(harness: CustomToolHarness) -> None:
    result = await imports(harness, document("one", "two", server="https://evil.test"))
    assert [tool.enabled for tool in await harness.clusters.tools("t")] == [False, False]
    assert '"disabled": {"evil.test is not approved for this task; approved: api.coingecko.com": 2}' in result.content


async def test_the_names_of_three_hundred_tools_are_told_and_the_number_of_all(harness: CustomToolHarness) -> None:
    result = await imports(harness, document(*[f"op{number}" for number in range(301)]))
    assert ('"imported": 301' in result.content, '"op299"' in result.content, '"op300"' in result.content) == (
        True,
        True,
        False,
    )


async def test_a_document_on_a_host_that_is_not_approved_is_not_fetched(harness: CustomToolHarness) -> None:
    result = await harness.call("import_openapi_tools", url="https://evil.test/spec")
    assert (result.block_reason, await harness.names()) == ("url_blocked", [])


async def test_a_document_that_is_not_there_changes_nothing(harness: CustomToolHarness) -> None:
    await imports(harness, document("one"))
    result = await imports(harness, document("two"), status=404)
    assert ("HTTP 404" in result.content, await harness.names()) == (True, ["one"])


async def test_what_is_no_document_changes_nothing(harness: CustomToolHarness) -> None:
    await imports(harness, document("one"))
    result = await imports(harness, "<p>Welcome</p>", cluster="Shop")
    assert result.content.startswith("Error: <tool_response ")
    assert (result.ok, await harness.names()) == (False, ["one"])


async def test_one_cluster_too_many_changes_nothing(harness: CustomToolHarness) -> None:
    for number in range(50):
        await harness.store(tool(f"own{number}"), cluster=f"c{number:02}")
    result = await imports(harness, document("one"))
    assert (result.ok, await harness.names()) == (False, [f"own{number}" for number in range(50)])


async def test_a_key_in_a_document_is_neither_stored_nor_told(harness: CustomToolHarness) -> None:
    result = await imports(harness, document("one", title=f"Shop {KEY}", description=f"Send {KEY}."))
    assert KEY not in result.content + repr(await harness.clusters.tools("t"))


async def test_an_import_may_be_done_again(harness: CustomToolHarness) -> None:
    prepared_call = await harness.prepare("import_openapi_tools", {"url": SPEC})
    assert (prepared_call.method, prepared_call.safe, prepared_call.repeatable) == ("GET", True, True)


async def test_an_import_without_an_address_is_refused(harness: CustomToolHarness) -> None:
    assert (await harness.call("import_openapi_tools", cluster="c")).block_reason == "invalid_arguments"


async def test_deleting_takes_the_cluster_and_no_other(harness: CustomToolHarness) -> None:
    await harness.store(tool("one"), cluster="a")
    await harness.store(tool("two"), cluster="b")
    result = await harness.call("delete_tool_cluster", cluster="a")
    assert (result.ok, await harness.names()) == (True, ["two"])


async def test_a_tool_of_a_deleted_cluster_is_not_called_any_more(harness: CustomToolHarness) -> None:
    await harness.store(tool("one"), cluster="a", known=False)
    await harness.call("delete_tool_cluster", cluster="a")
    assert ((await harness.call("call_custom_tool", toolName="one")).block_reason, harness.sent) == ("unknown_tool", [])


async def test_deleting_what_is_not_there_is_an_error(harness: CustomToolHarness) -> None:
    result = await harness.call("delete_tool_cluster", cluster="a")
    assert (result.ok, result.code, result.response_status) == (False, "not_found", None)
    assert result.content.startswith("Error: <tool_response ")


async def test_the_names_of_an_import_are_a_part_of_their_own(harness: CustomToolHarness) -> None:
    result = await imports(harness, document("one"))
    (part,) = result.parts
    assert (part.kind, json.loads(result.content[part.start : part.end])["tools"]) == (PartKind.JSON, ["one"])


async def test_why_nothing_was_imported_is_a_part_of_its_own(harness: CustomToolHarness) -> None:
    result = await imports(harness, "<p>Welcome</p>")
    (part,) = result.parts
    assert (part.kind, result.content[part.start : part.end].startswith("nothing was imported: ")) == (PartKind.TEXT, True)


async def test_deleting_without_a_name_is_refused(harness: CustomToolHarness) -> None:
    await harness.store(tool("one"))
    assert ((await harness.call("delete_tool_cluster")).block_reason, await harness.names()) == ("invalid_arguments", ["one"])


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("delete_tool_cluster", "'cluster' field required for delete_tool_cluster"),
        ("import_openapi_tools", "'url' field required for import_openapi_tools"),
        ("call_custom_tool", "'toolName' field required for call_custom_tool"),
    ],
)
async def test_what_is_wrong_with_arguments_is_told_as_an_object(harness: CustomToolHarness, name: str, error: str) -> None:
    result = await harness.call(name)
    assert json.loads(result.content) == {"error": error, "code": "INVALID_ARGUMENTS", "suggestion": result.suggestion}
    assert (result.ok, result.block_reason) == (False, "invalid_arguments")

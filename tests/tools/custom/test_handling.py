"""Handling custom tools: importing replaces a cluster and no other, deleting takes one away, and what comes of it is told."""

from __future__ import annotations

from .desk import HOST, KEY, SPEC, Desk, document, tool


async def imports(desk: Desk, text: str, status: int = 200, **arguments: str):
    desk.documents[SPEC] = (status, text)
    return await desk.call("import_openapi_tools", url=SPEC, **arguments)


async def test_an_import_stores_a_tool_for_each_operation(desk: Desk) -> None:
    await imports(desk, document("one", "two"))
    assert [(each.name, each.cluster) for each in await desk.clusters.tools("t")] == [("one", "Shop"), ("two", "Shop")]


async def test_an_import_tells_the_names_in_a_frame(desk: Desk) -> None:
    result = await imports(desk, document("one"))
    assert result.content.startswith('<tool_response id="0000000000000000" truncated="false">')
    assert ('"tools": ["one"]' in result.content, result.response_status) == (True, 200)


async def test_an_import_goes_under_the_name_that_was_asked_for(desk: Desk) -> None:
    await imports(desk, document("one"), cluster="mine")
    assert [each.name for each in await desk.clusters.list("t")] == ["mine"]


async def test_importing_again_replaces_the_cluster(desk: Desk) -> None:
    await imports(desk, document("one", "two"))
    await imports(desk, document("two", "three"))
    assert await desk.names() == ["two", "three"]


async def test_importing_leaves_other_clusters_and_names_alone(desk: Desk) -> None:
    await desk.has(tool("one"), tool("own"))
    await imports(desk, document("one"))
    assert await desk.names() == ["one", "own", "one_2"]
    assert (await desk.clusters.find("t", "one")) == tool("one")


async def test_an_imported_tool_can_be_called_at_once(desk: Desk) -> None:
    await imports(desk, document("one"))
    await desk.call("call_custom_tool", toolName="one")
    assert [each.url for each in desk.sent] == [f"https://{HOST}/one"]


async def test_operations_on_a_host_that_is_not_approved_are_disabled_and_told(desk: Desk) -> None:
    result = await imports(desk, document("one", "two", server="https://evil.test"))
    assert [each.enabled for each in await desk.clusters.tools("t")] == [False, False]
    assert '"disabled": {"evil.test is not approved for this task; approved: api.coingecko.com": 2}' in result.content


async def test_the_names_of_three_hundred_tools_are_told_and_the_number_of_all(desk: Desk) -> None:
    result = await imports(desk, document(*[f"op{number}" for number in range(301)]))
    assert ('"imported": 301' in result.content, '"op299"' in result.content, '"op300"' in result.content) == (
        True,
        True,
        False,
    )


async def test_a_document_on_a_host_that_is_not_approved_is_not_fetched(desk: Desk) -> None:
    result = await desk.call("import_openapi_tools", url="https://evil.test/spec")
    assert (result.block_reason, await desk.names()) == ("url_blocked", [])


async def test_a_document_that_is_not_there_changes_nothing(desk: Desk) -> None:
    await imports(desk, document("one"))
    result = await imports(desk, document("two"), status=404)
    assert ("HTTP 404" in result.content, await desk.names()) == (True, ["one"])


async def test_what_is_no_document_changes_nothing(desk: Desk) -> None:
    await imports(desk, document("one"))
    result = await imports(desk, "<p>Welcome</p>", cluster="Shop")
    assert result.content.startswith("Error: <tool_response ")
    assert (result.response_status, await desk.names()) == (400, ["one"])


async def test_one_cluster_too_many_changes_nothing(desk: Desk) -> None:
    for number in range(50):
        await desk.has(tool(f"own{number}"), cluster=f"c{number:02}")
    result = await imports(desk, document("one"))
    assert (result.response_status, await desk.names()) == (400, [f"own{number}" for number in range(50)])


async def test_a_key_in_a_document_is_neither_stored_nor_told(desk: Desk) -> None:
    result = await imports(desk, document("one", title=f"Shop {KEY}", description=f"Send {KEY}."))
    assert KEY not in result.content + repr(await desk.clusters.tools("t"))


async def test_an_import_may_be_done_again(desk: Desk) -> None:
    prepared_call = await desk.prepared_call("import_openapi_tools", {"url": SPEC})
    assert (prepared_call.method, prepared_call.safe, prepared_call.repeatable) == ("GET", True, True)


async def test_an_import_without_an_address_is_refused(desk: Desk) -> None:
    assert (await desk.call("import_openapi_tools", cluster="c")).block_reason == "invalid_arguments"


async def test_deleting_takes_the_cluster_and_no_other(desk: Desk) -> None:
    await desk.has(tool("one"), cluster="a")
    await desk.has(tool("two"), cluster="b")
    result = await desk.call("delete_tool_cluster", cluster="a")
    assert (result.response_status, await desk.names()) == (200, ["two"])


async def test_a_tool_of_a_deleted_cluster_is_not_called_any_more(desk: Desk) -> None:
    await desk.has(tool("one"), cluster="a", shown=False)
    await desk.call("delete_tool_cluster", cluster="a")
    assert ((await desk.call("call_custom_tool", toolName="one")).block_reason, desk.sent) == ("unknown_tool", [])


async def test_deleting_what_is_not_there_is_an_error(desk: Desk) -> None:
    result = await desk.call("delete_tool_cluster", cluster="a")
    assert (result.response_status, result.content.startswith("Error: ")) == (400, True)


async def test_deleting_without_a_name_is_refused(desk: Desk) -> None:
    await desk.has(tool("one"))
    assert ((await desk.call("delete_tool_cluster")).block_reason, await desk.names()) == ("invalid_arguments", ["one"])

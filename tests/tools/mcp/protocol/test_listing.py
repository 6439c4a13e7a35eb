"""Listings of tools: every page of them within bounds, and each tool that cannot be used apart from those that can."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.tools.mcp.protocol import (
    AnswerTooLargeError,
    HttpMessage,
    InvalidServerAnswerError,
    ServerToolListing,
    UnusableToolError,
    read_descriptor,
)
from ferryman.tools.mcp.protocol.descriptors import read_descriptors
from tests.linear import find_growth

from .peers import Write, WrittenResponse, WrittenServer, make_client, reply, write_json, write_result

SCHEMA = {"type": "object"}


def build_tool(name: Any = "t", **members: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": SCHEMA, **members}


async def list_tools(write: Write) -> ServerToolListing:
    return await make_client(WrittenServer(write)).list_tools()


async def test_all_that_a_server_sends_of_a_tool_is_there() -> None:
    raw = build_tool(title="T", description="D", outputSchema=SCHEMA, annotations={"readOnlyHint": True}, icons=[{"src": "x"}])
    (tool,) = (await list_tools(reply({"tools": [raw], "ttlMs": 5_000}))).tools
    assert (tool.raw, tool.title, tool.description, tool.input_schema) == (raw, "T", "D", SCHEMA)
    assert (tool.output_schema, tool.annotations) == (SCHEMA, {"readOnlyHint": True})


async def test_the_title_of_annotations_is_a_title() -> None:
    assert read_descriptor(build_tool(annotations={"title": "T"})).title == "T"


UNUSABLE: dict[str, Any] = {
    "a text": "t",
    "no name": {"inputSchema": SCHEMA},
    "an empty name": build_tool(""),
    "a name that is a number": build_tool(1),
    "a long name": build_tool("x" * 257),
    "a name with a line break": build_tool("a\nb"),
    "a name with a direction mark": build_tool("a\u202eb"),
    "no schema": {"name": "t"},
    "a schema that is a text": build_tool(inputSchema="object"),
    "a schema of a list": build_tool(inputSchema={"type": "array"}),
    "a schema without a type": build_tool(inputSchema={}),
    "a title that is none": build_tool(title=1),
    "a description that is none": build_tool(description=["x"]),
    "annotations that are none": build_tool(annotations="readOnly"),
    "an output schema that is none": build_tool(outputSchema=[]),
    "too large": build_tool(description="x" * 65_536),
    "too large in other letters": build_tool(description="é" * 40_000),
    "a bad annotation": build_tool(
        inputSchema={"type": "object", "properties": {"a": {"type": "number", "x-mcp-header": "A"}}}
    ),
}


@pytest.mark.parametrize("kind", UNUSABLE)
async def test_a_tool_that_cannot_be_used_is_left_out_with_a_reason(kind: str) -> None:
    listing = await list_tools(reply({"tools": [build_tool("good"), UNUSABLE[kind]]}))
    assert ([tool.name for tool in listing.tools], len(listing.refused)) == (["good"], 1)
    assert listing.refused[0].reason


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_single_descriptor_is_refused_alike(kind: str) -> None:
    with pytest.raises(UnusableToolError):
        read_descriptor(UNUSABLE[kind])


async def test_a_name_that_comes_twice_is_nobody_s() -> None:
    listing = await list_tools(reply({"tools": [build_tool("a"), build_tool("b"), build_tool("a", description="other")]}))
    assert ([tool.name for tool in listing.tools], [tool.name for tool in listing.refused]) == (["b"], ["a"])


def paginate(pages: dict[str | None, dict[str, Any]]) -> Write:
    def write(request: HttpMessage) -> WrittenResponse:
        assert request.body is not None
        return WrittenResponse([write_json(write_result(request, pages[request.body["params"].get("cursor")]))])

    return write


async def test_pages_are_one_listing_in_their_order() -> None:
    pages = {None: {"tools": [build_tool("b")], "nextCursor": "1", "ttlMs": 9}, "1": {"tools": [build_tool("a")], "ttlMs": 7}}
    listing = await list_tools(paginate(pages))
    assert ([tool.name for tool in listing.tools], listing.ttl_ms) == (["b", "a"], 7)


async def test_a_name_that_comes_again_on_another_page_is_nobody_s() -> None:
    pages = {None: {"tools": [build_tool("a")], "nextCursor": "1"}, "1": {"tools": [build_tool("a")]}}
    assert (await list_tools(paginate(pages))).tools == ()


BAD: dict[str, dict[str, Any]] = {
    "no tools": {},
    "tools that are no list": {"tools": {}},
    "a cursor that is a number": {"tools": [], "nextCursor": 1},
    "an endless cursor": {"tools": [], "nextCursor": "x" * 4_097},
    "a page that follows itself": {"tools": [], "nextCursor": "again"},
    "too many tools": {"tools": [build_tool(str(number)) for number in range(1_001)]},
    "a result that is none": {"tools": [], "resultType": "input_required"},
}


@pytest.mark.parametrize("kind", BAD)
async def test_a_listing_that_is_none_is_refused(kind: str) -> None:
    with pytest.raises(InvalidServerAnswerError):
        await list_tools(reply(BAD[kind]))


def follow(make: Any) -> Write:
    """Return what answers with a page and a cursor that was never there before."""

    def write(request: HttpMessage) -> WrittenResponse:
        assert request.body is not None
        number = int(request.body["params"].get("cursor", "0"))
        result = {"tools": make(number), "nextCursor": str(number + 1)}
        return WrittenResponse([write_json(write_result(request, result))])

    return write


async def test_pages_without_an_end_are_refused() -> None:
    server = WrittenServer(follow(lambda _: []))
    with pytest.raises(AnswerTooLargeError, match="50 pages"):
        await make_client(server).list_tools()
    assert len(server.messages) == 50


async def test_a_page_that_follows_itself_is_asked_for_once() -> None:
    server = WrittenServer(reply({"tools": [], "nextCursor": "again"}))
    with pytest.raises(InvalidServerAnswerError, match="follows itself"):
        await make_client(server).list_tools()
    assert len(server.messages) == 2


async def test_pages_with_too_many_bytes_are_refused() -> None:
    server = WrittenServer(follow(lambda number: [build_tool(f"{number}", description="x" * 60_000)] * 3))
    with pytest.raises(AnswerTooLargeError):
        await make_client(server).list_tools()
    assert len(server.messages) < 30


async def test_pages_with_too_many_tools_are_refused() -> None:
    with pytest.raises(InvalidServerAnswerError, match="1,000 tools"):
        await list_tools(follow(lambda number: [build_tool(f"{number}-{index}") for index in range(100)]))


@pytest.mark.parametrize("ttl", [-1, "5", True, None, 10**12, 1e300])
async def test_a_time_that_is_none_is_zero(ttl: Any) -> None:
    assert (await list_tools(reply({"tools": [], "ttlMs": ttl}))).ttl_ms == 0


async def test_a_large_listing_is_read_in_a_worker_alike() -> None:
    tools = [build_tool(f"t{number}", description="d" * 500) for number in range(200)]
    listing = await list_tools(reply({"tools": [*tools, {"name": "bad"}]}))
    assert ([tool.raw for tool in listing.tools], len(listing.refused)) == (tools, 1)


def test_descriptors_take_linear_time() -> None:
    growth = find_growth(read_descriptors, lambda size: [build_tool(f"t{number}") for number in range(size // 8)])
    assert growth is None, str(growth)

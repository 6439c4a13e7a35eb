"""Pages of a list: every item once, in order, whatever changes between them."""

from __future__ import annotations

from typing import Any

import pytest

from ferryman.serving.mcp import McpError, McpExchange, paginate
from ferryman.serving.mcp.pages import write_cursor
from ferryman.serving.mcp.signing import InvalidSignatureError, sign, verify

from .client import Client
from .servers import BEGINNING, KEYS, TOOLS, Stage


def list_page(items: list[str], cursor: Any = None, size: int = 2) -> tuple[list[str], Any]:
    params = {} if cursor is None else {"cursor": cursor}
    exchange = McpExchange(caller=None, principal="", id=1, method="tools/list", params=params)
    page, more = paginate(exchange, items, str, size=size)
    return page, more.get("nextCursor")


async def test_the_pages_have_every_item_once_in_order(client: Client) -> None:
    names, cursor = [], None
    while True:
        result = (await client.call("tools/list", {"cursor": cursor} if cursor else {})).result
        names += [tool["name"] for tool in result["tools"]]
        if (cursor := result.get("nextCursor")) is None:
            break
    assert names == sorted(TOOLS)


def test_an_item_that_was_added_before_shifts_nothing() -> None:
    page, cursor = list_page(["b", "c", "d", "e"])
    assert page == ["b", "c"]
    assert list_page(["a", "b", "c", "d", "e"], cursor) == (["d", "e"], None)


def test_an_item_that_was_removed_shifts_nothing() -> None:
    _, cursor = list_page(["b", "c", "d", "e"])
    assert list_page(["b", "d", "e"], cursor) == (["d", "e"], None)


def test_a_page_that_is_the_last_one_has_no_cursor() -> None:
    assert list_page(["a", "b"]) == (["a", "b"], None)


@pytest.mark.parametrize("cursor", ["", "a", "!", 1, [], "MA==", "M" * 5_000, write_cursor("a") + "A", "Mf8="])
def test_a_cursor_that_is_not_ours_is_refused(cursor: Any) -> None:
    with pytest.raises(McpError, match="cursor is not one of this list"):
        list_page(["a"], cursor)


@pytest.mark.parametrize(("first", "second"), [(("ab", "c"), ("a", "bc")), (("a", ""), ("", "a")), (("a",), ("a", ""))])
def test_nothing_moves_from_one_part_of_what_is_signed_to_the_next(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    text = sign(KEYS, "a purpose", {"a": 1}, first, until=BEGINNING.replace(year=2027))
    assert verify(KEYS, "a purpose", text, first, now=BEGINNING) == {"a": 1}
    with pytest.raises(InvalidSignatureError):
        verify(KEYS, "a purpose", text, second, now=BEGINNING)


def test_a_server_has_a_title_where_it_is_given_one() -> None:
    assert Stage(title="A stage").server.describe() == {"name": "stage", "version": "1", "title": "A stage"}

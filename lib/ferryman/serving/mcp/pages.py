"""Pages of lists: a cursor names the last item of the page before, so that what is added or removed shifts nothing."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ferryman.serving.mcp.errors import refuse_params
from ferryman.serving.mcp.exchange import McpExchange

T = TypeVar("T")

PAGE_SIZE = 100
CURSOR_CHARACTERS_MAX = 4_096


def paginate(
    exchange: McpExchange, items: Sequence[T], key: Callable[[T], str], *, size: int = PAGE_SIZE
) -> tuple[list[T], dict[str, Any]]:
    """Return the page that the request's `cursor` asks for, in the order of `key`, and the member `nextCursor` if more follow.

    `key` names an item for good, uniquely. Raise `McpError` with -32602 for a cursor that this server did not make.
    """
    after = read_cursor(exchange)
    ordered = sorted(items, key=key)
    if after is not None:
        ordered = [item for item in ordered if key(item) > after]
    page = ordered[:size]
    return page, {"nextCursor": write_cursor(key(page[-1]))} if len(ordered) > size else {}


def write_cursor(position: str) -> str:
    """Return the cursor of the page that follows `position`."""
    return base64.urlsafe_b64encode(b"1" + position.encode()).decode()


def read_cursor(exchange: McpExchange) -> str | None:
    """Return the position that the request's `cursor` names, None without one. Raise `McpError` with -32602."""
    cursor = exchange.params.get("cursor")
    if cursor is None:
        return None
    try:
        if not isinstance(cursor, str) or len(cursor) > CURSOR_CHARACTERS_MAX:
            raise ValueError
        content = base64.b64decode(cursor, altchars=b"-_", validate=True)
        if content[:1] != b"1":
            raise ValueError
        return content[1:].decode()
    except (binascii.Error, ValueError):
        raise refuse_params("cursor is not one of this list: begin without one") from None

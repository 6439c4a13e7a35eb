"""Branches of a conversation as a page switches between them: messages with the same parent are in the same place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ferryman.serving.console.api_client import ApiClient

LISTED_MAX = 500
"""In a longer conversation only branches among this many first messages are shown."""

PAGE = 100


async def find_branches(
    api: ApiClient, name: str, messages: Sequence[Mapping[str, Any]], *, head: int, end: int
) -> dict[int, dict[str, Any]]:
    """Return by the number of each of the `messages`, oldest first, which of how many it is where there are several.

    They are of the branch that ends with message `end`. `before` and `after` are the ends of the branches beside it, None
    where there is none.
    """
    numbers = [message["number"] for message in messages]
    # where each follows the number before it, up to the newest one, no message is left for another branch
    if not numbers or (end == head <= numbers[-1] + 1 and all(item["parent"] == item["number"] - 1 for item in messages)):
        return {}
    parents: dict[int, int] = {}
    cursor = None
    while len(parents) < LISTED_MAX:
        page = await api.get(f"/v1/conversations/{name}/messages", limit=PAGE, cursor=cursor)
        parents |= {message["number"]: message["parent"] for message in page["messages"]}
        cursor = page["next"]
        if cursor is None:
            break
    return place_branches(parents, numbers)


def place_branches(parents: Mapping[int, int], numbers: Iterable[int]) -> dict[int, dict[str, Any]]:
    """Return where each of `numbers` is among those with its parent, in a tree of messages by their parents' numbers."""
    children: dict[int, list[int]] = defaultdict(list)
    for number in sorted(parents):
        children[parents[number]].append(number)
    ends: dict[int, int] = {}
    for number in sorted(parents, reverse=True):  # a child has a greater number than its parent
        ends[number] = ends[children[number][-1]] if number in children else number
    places = {}
    for number in numbers:
        beside = children[parents[number]] if number in parents else []
        if len(beside) > 1:
            at = beside.index(number)
            places[number] = {
                "index": at + 1,
                "count": len(beside),
                "before": ends[beside[at - 1]] if at else None,
                "after": ends[beside[at + 1]] if at + 1 < len(beside) else None,
            }
    return places

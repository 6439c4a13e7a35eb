"""The tools of an MCP server as a person reads them before accepting: whole texts, and what has changed in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.domain.remote_servers.pin import PinState

TEXT_CHARACTERS_MAX = 70_000
"""More than any text of a descriptor has: the descriptor as a whole has at most 64 KiB."""

ACCEPTABLE = (PinState.NEW, PinState.CHANGED, PinState.DISABLED)
DISABLEABLE = (PinState.ACCEPTED, PinState.CHANGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChange:
    """A field as it was and as it is, each None where it was or is not there; `head` and `tail` are the same in both."""

    field: str
    head: str
    before: str | None
    after: str | None
    tail: str


def review_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a page shows of a tool. `choice` is the value of its box: the digest that is shown, and its name.

    "" is the choice of a tool that cannot be accepted or disabled, as one whose texts are too long to be shown whole.
    """
    schema = json.dumps(tool["input_schema"], indent=2, ensure_ascii=False)
    annotations = json.dumps(tool["annotations"], indent=2, ensure_ascii=False) if tool["annotations"] else ""
    changes = [mark_change(change) for change in tool["difference"]]
    texts = (tool["description"], tool["model_description"], schema, annotations)
    lengths = [*map(len, texts), *(len(change.before or "") + len(change.after or "") for change in changes)]
    is_whole = max(lengths) <= TEXT_CHARACTERS_MAX
    is_listed = tool["state"] in (*ACCEPTABLE, *DISABLEABLE) and tool["digest"]
    return {
        **tool,
        "tool": tool["config"]["tool_name"],
        "schema": schema,
        "hints": annotations,
        "changes": changes,
        "is_whole": is_whole,
        "choice": f"{tool['digest']} {tool['config']['tool_name']}" if is_whole and is_listed else "",
    }


def read_choices(values: tuple[str, ...]) -> dict[str, str]:
    """Return the digests of the tools whose boxes were ticked, by the server's names of the tools."""
    return {tool: digest for digest, _, tool in (value.partition(" ") for value in values) if tool}


def mark_change(change: Mapping[str, Any]) -> TextChange:
    """Return a change with its common beginning and its common end separate."""
    before, after = change["before"], change["after"]
    if before is None or after is None:
        return TextChange(field=change["field"], head="", before=before, after=after, tail="")
    head = _count_same(before, after)
    tail = _count_same(before[head:][::-1], after[head:][::-1])
    return TextChange(
        field=change["field"],
        head=before[:head],
        before=before[head : len(before) - tail],
        after=after[head : len(after) - tail],
        tail=before[len(before) - tail :],
    )


def _count_same(text: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(text), len(other)))

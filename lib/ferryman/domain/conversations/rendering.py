"""Tool calls and their results as chats show them: the seed's message formats, previews, and images as placeholders."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.part import PartKind
from ferryman.domain.conversations.images import replace_images
from ferryman.domain.conversations.turns import Turn, read_result
from ferryman.domain.json_tree import map_leaves, replace_halves

PREVIEW_CHARACTERS_MAX = 200


def read_value(result: ToolCallResult) -> Any:
    """Return the value of a result without its frame: the JSON that its tool answered, or the text.

    A result of one part of JSON is that value, any other is the text of its parts, without references to files.
    """
    spans = [result.content[part.start : part.end] for part in result.parts if part.kind is not PartKind.FILE]
    kinds = [part.kind for part in result.parts if part.kind is not PartKind.FILE]
    if kinds == [PartKind.JSON]:
        try:
            return map_leaves(json.loads(spans[0]), _clean_leaf, rename=replace_halves)
        except (ValueError, RecursionError):
            return replace_images(spans[0])  # it was cut
    return replace_images("\n".join(spans) if result.parts else result.content)


def preview_result(value: Any) -> str:
    """Return a line that tells what a result is (S3-65): how many results a list has, or the first 200 characters.

    An object with one list among its values counts as that list: `{"results": […]}`.
    """
    lists = [value] if isinstance(value, list) else []
    if isinstance(value, Mapping):
        lists = [child for child in value.values() if isinstance(child, list)]
    if len(lists) == 1:
        return f"Found {len(lists[0])} {'result' if len(lists[0]) == 1 else 'results'}"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text[: 4 * PREVIEW_CHARACTERS_MAX].split())
    return line if len(line) <= PREVIEW_CHARACTERS_MAX else f"{line[: PREVIEW_CHARACTERS_MAX - 1]}…"


def render_result(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a turn as a message of the seed (S3-27): its content is a text that holds JSON."""
    value = read_value(read_result(result))
    content = value if result["ok"] else {"error": value}
    return {"role": "tool", "toolCallId": result["call"], "content": json.dumps(content, ensure_ascii=False)}


def render_turn(turn: Turn) -> list[dict[str, Any]]:
    """Return a turn as messages of the seed: the assistant's, with its calls (S3-26) and its text or null (S3-28), and the
    results in call order."""
    written: dict[str, Any] = {"role": "assistant", "content": turn["text"] or None}
    if not turn["calls"]:
        return [written]
    return [{**written, "toolCalls": [dict(call) for call in turn["calls"]]}, *map(render_result, turn["results"])]


def _clean_leaf(leaf: Any) -> Any:
    """Return a leaf without an image, and as every reader of JSON can read it: hosts write what Python reads and none else."""
    if isinstance(leaf, float) and not math.isfinite(leaf):
        return str(leaf)
    return replace_images(replace_halves(leaf)) if isinstance(leaf, str) else leaf

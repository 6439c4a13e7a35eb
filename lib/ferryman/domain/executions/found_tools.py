"""Tools that an execution found: what the result of a search says, and what the model is shown of it.

The model reads references in place of the result (`tool_reference` of the Messages API), and the definitions are listed with
`defer_loading`: the service puts each where it is referred to, behind all that it has cached of the prompt.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.executions.message import Block, Message, build_tool_result

Definition = Mapping[str, Any]

FOUND_BYTES_MAX = 200_000
"""The definitions that one execution may find, as JSON, beside those that it was shown at its start."""

DEFERRED = "defer_loading"
REFERENCE = "tool_reference"

_FIELDS = {"name": str, "description": str, "input_schema": dict}


def write_found(definitions: Sequence[Definition]) -> str:
    """Return the result of a search that found `definitions`, as JSON."""
    return json.dumps({"tools": list(definitions)}, ensure_ascii=False)


def read_found(content: str) -> list[Definition]:
    """Return the definitions that the result of a search has; none where it is a sentence."""
    try:
        tools = json.loads(content)["tools"]
    except (ValueError, TypeError, KeyError):
        return []
    return [tool for tool in tools if isinstance(tool, dict) and _is_definition(tool)] if isinstance(tools, list) else []


def build_results(
    answers: Iterable[tuple[str, ToolCallResult]],
    *,
    finders: Collection[str],
    listed: Sequence[Definition],
    enabled: Collection[str],
) -> tuple[Message, list[Definition]]:
    """Return the message with the results of a turn's calls, and the definitions that are listed from then on.

    `answers` are the calls' ids with their results, `finders` the tools that search, `listed` the definitions listed so far.
    A tool that is not `enabled` is never listed, whatever a result says.
    """
    blocks: list[Block] = []
    added: list[Definition] = []
    names = {tool["name"] for tool in listed}
    room = FOUND_BYTES_MAX - sum(len(json.dumps(tool)) for tool in listed if DEFERRED in tool)
    for call, result in answers:
        matches = [tool for tool in read_found(result.content) if tool["name"] in enabled] if result.tool in finders else []
        references: list[Block] = []
        for tool in matches:
            if tool["name"] in names or (size := len(json.dumps(tool))) > room:
                continue
            added.append({**tool, DEFERRED: True})
            references.append({"type": REFERENCE, "tool_name": tool["name"]})
            names.add(tool["name"])
            room -= size
        content = _say_nothing_new(matches, names) if matches else result.content
        blocks.append(build_tool_result(call, references or content, is_error=not result.ok))
    return {"role": "user", "content": blocks}, added


def _say_nothing_new(matches: Sequence[Definition], names: Collection[str]) -> str:
    known = [tool["name"] for tool in matches if tool["name"] in names]
    if not known:
        return "This execution has found as many tools as it may: use those that are there."
    return f"Nothing new: {', '.join(known)} can be called already."


def _is_definition(tool: Mapping[str, Any]) -> bool:
    return tool.keys() == _FIELDS.keys() and all(isinstance(tool[name], kind) for name, kind in _FIELDS.items())

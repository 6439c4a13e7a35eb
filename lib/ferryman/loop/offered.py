"""Offered: what the model is shown of a task's declared tools: whole clusters while they fit, of the others the names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from ferryman.domain.declared import Declared

DEFINITIONS_BYTES_MAX = 200_000
"""All definitions together, as JSON: about 50,000 tokens of every model call. Step 0 has to hold them, too."""

NAMES_BYTES_MAX = 40_000
"""Of these, what names the tools that do not fit."""

CALL = "call_custom_tool"


class Crowded(Exception):  # noqa: N818 - reads as the fact it states
    """There are more tools than can be shown, and no way to call one that is not; its text is what the owner is told."""


def offered(definitions: Sequence[Mapping[str, Any]], declared: Iterable[Declared]) -> tuple[Mapping[str, Any], ...]:
    """`definitions`, and those of the enabled `declared` tools, cluster by cluster, smallest first, as far as they fit.

    What does not is named in the description of call_custom_tool. Raises `Crowded` where the task has not enabled that.
    """
    enabled = sorted((each for each in declared if each.enabled), key=lambda each: each.cluster)
    clusters = {name: [_definition(each) for each in tools] for name, tools in groupby(enabled, lambda each: each.cluster)}
    sizes = {name: _size(each) for name, each in clusters.items()}
    left = DEFINITIONS_BYTES_MAX - _size(definitions)
    if sum(sizes.values()) > left:
        left -= NAMES_BYTES_MAX
    shown, hidden = [*definitions], {}
    for name in sorted(clusters, key=lambda each: (each != "", sizes[each], each)):
        if sizes[name] <= left:
            shown += clusters[name]
            left -= sizes[name]
        else:
            hidden[name] = [each["name"] for each in clusters[name]]
    if not hidden:
        return tuple(shown)
    if not any(each["name"] == CALL for each in shown):
        count = sum(map(len, hidden.values()))
        raise Crowded(
            f"the definitions of {count} declared tools do not fit into the {DEFINITIONS_BYTES_MAX} bytes that a model is "
            f"shown; enable {CALL}, or delete some of their clusters"
        )
    return tuple(
        {**each, "description": each["description"] + _listed(hidden)} if each["name"] == CALL else each for each in shown
    )


def _definition(tool: Declared) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description or tool.summary, "input_schema": tool.schema}


def _size(said: Any) -> int:
    return len(json.dumps(said))


def _listed(hidden: Mapping[str, Sequence[str]]) -> str:
    text = _lines({name: ", ".join(names) for name, names in hidden.items()})
    if _size(text) > NAMES_BYTES_MAX:
        text = _lines({name: f"{len(names)} tools" for name, names in hidden.items()})
    return text


def _lines(clusters: Mapping[str, str]) -> str:
    lines = "".join(f"\n{name or 'ungrouped'}: {tools}" for name, tools in sorted(clusters.items()))
    return f" Tools that have no definition of their own here; an error says what a call lacks:{lines}"

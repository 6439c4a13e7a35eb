"""The offer by context: the definitions that a message asks for, few enough to cost little, and the model searches the others.

What it is shown is chosen once. What it finds later comes behind all that it has read before, so that a provider's cache of
the prompt stays whole (`domain.executions.found_tools`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import Any

from ferryman.catalog.tool_triggers import CORE, TRIGGERED, match_triggers
from ferryman.catalog.tools import FINDERS
from ferryman.domain.tools.offered import OfferedTool
from ferryman.selection import ToolIndex, read_definition, search

CHARACTERS_PER_TOKEN = 4
TOKENS_MAX = 3_000
"""The definitions of an offer together, by the estimate of a token for every four characters of their JSON."""

PROMPTED_MAX = 30
"""How many tools are shown because the words of the prompt ask for them."""

LISTING_CHARACTERS_MAX = 600
"""The names of the clusters that the description of the search has."""


def select_in_context(
    definitions: Sequence[Mapping[str, Any]], declared: Sequence[OfferedTool], *, message: str, prompt: str
) -> tuple[Mapping[str, Any], ...]:
    """Return those of the built-in `definitions` and of the enabled `declared` tools that are loaded, each in its order.

    Loaded are: a minimal core, what the keywords in `message` trigger (S3-91), and of the tools that no keyword is for
    those that fit the words of `prompt`, the best first, as long as `TOKENS_MAX` holds them.
    """
    loaded = CORE | match_triggers(message)
    visible = {definition["name"] for definition in definitions if definition["name"] in loaded}
    rest = [definition for definition in definitions if definition["name"] not in loaded | TRIGGERED]
    enabled = sorted((tool for tool in declared if tool.enabled), key=lambda tool: tool.cluster)
    candidates = [*rest, *(tool.to_definition() for tool in enabled)]
    clusters = [*("" for _ in rest), *(tool.cluster for tool in enabled)]
    room = TOKENS_MAX * CHARACTERS_PER_TOKEN - LISTING_CHARACTERS_MAX
    room -= sum(measure(definition) for definition in definitions if definition["name"] in visible)
    for number in find_definitions(candidates, clusters, prompt, PROMPTED_MAX):
        if (size := measure(candidates[number])) <= room:
            visible.add(candidates[number]["name"])
            room -= size
    listing = list_clusters(
        [cluster for tool, cluster in zip(candidates, clusters, strict=True) if tool["name"] not in visible]
    )
    selected = [definition for definition in (*definitions, *candidates[len(rest) :]) if definition["name"] in visible]
    return tuple(
        {**definition, "description": definition["description"] + listing} if definition["name"] in FINDERS else definition
        for definition in selected
    )


def find_definitions(definitions: Sequence[Mapping[str, Any]], clusters: Sequence[str], text: str, limit: int) -> Sequence[int]:
    """Return the numbers of at most `limit` of the `definitions` that `text` asks for, the best first."""
    index = ToolIndex(
        read_definition(definition["name"], definition["description"], definition["input_schema"], group=cluster)
        for definition, cluster in zip(definitions, clusters, strict=True)
    )
    return search(index, text, limit)


def list_clusters(clusters: Collection[str]) -> str:
    """Return what is said of the tools that are not shown: how many each cluster has, as far as that has room."""
    listed = ", ".join(f"{name} ({len(list(same))})" for name, same in groupby(sorted(filter(None, clusters))))
    return f" Not listed are tools of: {listed[:LISTING_CHARACTERS_MAX]}." if listed else ""


def measure(definition: Mapping[str, Any]) -> int:
    """Return the characters of a definition's JSON."""
    return len(json.dumps(definition, ensure_ascii=False))

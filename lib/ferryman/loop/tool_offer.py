"""The tool offer: the definitions that the model is shown, all while they fit, and the names of the other tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from ferryman import offload
from ferryman.catalog.tools import FINDERS, TOOLS
from ferryman.domain.counts import say_count
from ferryman.domain.tasks.task import ToolLoading
from ferryman.domain.tools.offered import OfferedTool
from ferryman.loop.context_offer import PROMPTED_MAX, select_in_context
from ferryman.selection.declared import find_declared_tools

DEFINITIONS_BYTES_MAX = 200_000
"""All definitions together, as JSON: about 50,000 tokens of every model call. Step 0 stores them, too."""

NAMES_BYTES_MAX = 40_000
"""The part of these bytes that lists the tools whose definitions do not fit."""

CALLERS = tuple(tool.name for tool in TOOLS.values() if tool.calls_others)
"""The tools that call others by their names."""

REACHING = (*FINDERS, *CALLERS)
"""The tools by which a model reaches those that it is not shown."""


class TooManyToolsError(Exception):
    """There are more tools than fit, and the task has no way to call the others; the text is the message for the owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOffer:
    """The definitions for a task's model, and the fingerprints of its enabled tools by name; or the fault that prevents it."""

    tools: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    fault: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferContext:
    """What an offer is chosen by: how the task's tools are loaded, what it is asked (`message`), and all of its `prompt`."""

    loading: ToolLoading = ToolLoading.ALL
    message: str = field(default="", repr=False)
    prompt: str = field(default="", repr=False)


EVERYTHING = OfferContext()


async def build_offer(
    owner: str,
    definitions: Sequence[Mapping[str, Any]],
    declared: Sequence[OfferedTool],
    context: OfferContext = EVERYTHING,
) -> ToolOffer:
    """Return the offer of the built-in `definitions` and the `declared` tools, thousands perhaps: built in a worker."""
    if not declared and context.loading is ToolLoading.ALL:
        return ToolOffer(tools=select_definitions(definitions, ()))
    try:
        return await offload.run(owner, offload.DOCUMENT, make_offer, definitions, declared, context)
    except offload.OverBudgetError as error:
        return ToolOffer(fault=f"the declared tools cannot be read: {error}")


def make_offer(
    definitions: Sequence[Mapping[str, Any]], declared: Sequence[OfferedTool], context: OfferContext = EVERYTHING
) -> ToolOffer:
    """Return the offer; a pure function for workers."""
    enabled = [tool for tool in declared if tool.enabled]
    try:
        if context.loading is ToolLoading.CONTEXT_AWARE:
            tools = select_in_context(definitions, enabled, message=context.message, prompt=context.prompt)
        else:
            tools = select_definitions(definitions, enabled, context.prompt)
    except TooManyToolsError as error:
        return ToolOffer(fault=str(error))
    return ToolOffer(tools=tools, fingerprints={tool.name: tool.fingerprint for tool in enabled})


def select_definitions(
    definitions: Sequence[Mapping[str, Any]], declared: Iterable[OfferedTool], prompt: str = ""
) -> tuple[Mapping[str, Any], ...]:
    """Return `definitions` and those of the enabled `declared` tools, cluster by cluster, the smallest first, while they fit.

    Where not all fit, the tools that `prompt` asks for come before the clusters. The other tools are listed in the description
    of the tool that finds them, or calls them by their names. Raise `TooManyToolsError` where the task has enabled neither.
    """
    enabled = sorted((tool for tool in declared if tool.enabled), key=lambda tool: tool.cluster)
    clusters = {name: [tool.to_definition() for tool in tools] for name, tools in groupby(enabled, lambda tool: tool.cluster)}
    sizes = {name: _measure(tools) for name, tools in clusters.items()}
    remaining = DEFINITIONS_BYTES_MAX - _measure(definitions)
    visible, hidden = [*definitions], {}
    if sum(sizes.values()) > remaining:
        remaining -= NAMES_BYTES_MAX
        for definition in (tool.to_definition() for tool in find_declared_tools(enabled, prompt, PROMPTED_MAX)):
            if (size := _measure([definition])) <= remaining:
                visible.append(definition)
                remaining -= size
    visible_names = {definition["name"] for definition in visible}
    for name in sorted(clusters, key=lambda name: (name != "", sizes[name], name)):
        rest = [definition for definition in clusters[name] if definition["name"] not in visible_names]
        if (size := _measure(rest)) <= remaining:
            visible += rest
            remaining -= size
        elif rest:
            hidden[name] = [definition["name"] for definition in rest]
    if not hidden:
        return tuple(visible)
    if not any(definition["name"] in REACHING for definition in visible):
        count = sum(map(len, hidden.values()))
        raise TooManyToolsError(
            f"the definitions of {count} declared tools do not fit into the {DEFINITIONS_BYTES_MAX} bytes that a model is "
            f"shown; enable {' or '.join(REACHING)}, or delete some of their clusters"
        )
    listing = _list_hidden(hidden)
    return tuple(
        {**definition, "description": definition["description"] + listing} if definition["name"] in REACHING else definition
        for definition in visible
    )


def _measure(value: Any) -> int:
    return len(json.dumps(value))


def _list_hidden(hidden: Mapping[str, Sequence[str]]) -> str:
    text = _format_listing({name: ", ".join(names) for name, names in hidden.items()})
    if _measure(text) > NAMES_BYTES_MAX:
        text = _format_listing({name: say_count(len(names), "tools") for name, names in hidden.items()})
    return text


def _format_listing(clusters: Mapping[str, str]) -> str:
    lines = "".join(f"\n{name or 'ungrouped'}: {tools}" for name, tools in sorted(clusters.items()))
    return f" Tools that have no definition of their own here; an error says what a call lacks:{lines}"

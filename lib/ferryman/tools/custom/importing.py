"""Importing: documents become tools of one task, whose names are its own and whose words cannot pass for anybody else's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ferryman import openapi, ports
from ferryman.domain.declared import CLUSTER_CHARACTERS_MAX, Declared, Parameter
from ferryman.openapi import Imported

TOLD = frozenset(("description", "title", "summary"))
"""Where a schema speaks to the model in words."""

WHOLE = frozenset(("const", "default"))
"""What is left out where a part of it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be imported: documents by URL, parsed, and how. `credentials` are names with the host patterns of each."""

    documents: Mapping[str, Any]
    root: str
    cluster: str | None = None
    domains: Collection[str]
    credentials: Mapping[str, Collection[str]]
    server: str | None = None


async def imported(clusters: ports.Clusters, task: str, wanted: Wanted, *, tame: Callable[[str], str]) -> Imported:
    """The tools that would be stored; nothing is yet. A document's words are tamed: its author is nobody the model may heed.

    Raises `Invalid`.
    """

    def read(taken: Collection[str]) -> Imported:
        return openapi.read(
            wanted.documents,
            wanted.root,
            cluster=wanted.cluster,
            domains=wanted.domains,
            credentials=wanted.credentials,
            taken=taken,
            server=wanted.server,
        )

    found = await asyncio.to_thread(read, ())
    # a name of characters that nobody sees must not become that of the tools without a cluster, and replace them
    cluster = tame(found.cluster)[:CLUSTER_CHARACTERS_MAX].strip() or "openapi"
    taken = {row.name for each in await clusters.list(task) if each.name != cluster for row in each.rows}
    if taken & {each.name for each in found.tools}:
        found = await asyncio.to_thread(read, taken)
    tools = await asyncio.to_thread(lambda: tuple(replace(_tamed(each, tame), cluster=cluster) for each in found.tools))
    return replace(found, cluster=cluster, tools=tools)


def _tamed(tool: Declared, tame: Callable[[str], str]) -> Declared:
    parameters = {
        name: Parameter(schema=_words(each.schema, tame), required=each.required, style=each.style)
        for name, each in tool.parameters.items()
    }
    # a reason may quote the document, and is told to the model as a sentence of ours
    reason = None if tool.reason is None else " ".join(tame(tool.reason).split()).encode("ascii", "replace").decode()
    return replace(tool, description=tame(tool.description), summary=tame(tool.summary), reason=reason, parameters=parameters)


def _words(schema: Any, tame: Callable[[str], str]) -> Any:
    """`schema` with its words tamed; names and values that speak cannot be changed, so they are left out."""
    if isinstance(schema, list | tuple):
        return [_words(each, tame) for each in schema if not _speaks(each, tame)]
    if not isinstance(schema, Mapping):
        return schema
    found = {}
    for name, each in schema.items():
        if name in TOLD and isinstance(each, str):
            found[name] = tame(each)
            continue
        tamed = _words(each, tame)
        gone = tamed != each and (name in WHOLE or (name == "enum" and not tamed))
        if not (gone or _speaks(name, tame) or _speaks(each, tame)):
            found[name] = tamed
    return found


def _speaks(value: Any, tame: Callable[[str], str]) -> bool:
    """Whether a text would pass for a frame, a token or a role; a word that only begins like one, as a scope may, does not."""
    if not isinstance(value, str) or tame(value) == value:
        return False
    return len(value.split()) > 1 or tame(f"a{value}") != f"a{value}"

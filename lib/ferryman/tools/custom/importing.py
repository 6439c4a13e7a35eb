"""Importing: documents become tools of one task, whose names are its own and whose words cannot pass for anybody else's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ferryman import openapi, ports
from ferryman.domain.declared import Declared, Parameter
from ferryman.openapi import Imported

TOLD = frozenset(("description", "title", "summary"))
"""Where a schema speaks to the model in words."""


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
    taken = {row.name for each in await clusters.list(task) if each.name != found.cluster for row in each.rows}
    if taken & {each.name for each in found.tools}:
        found = await asyncio.to_thread(read, taken)
    tools = await asyncio.to_thread(lambda: tuple(_tamed(each, tame) for each in found.tools))
    return replace(found, tools=tools)


def _tamed(tool: Declared, tame: Callable[[str], str]) -> Declared:
    parameters = {
        name: Parameter(schema=_words(each.schema, tame), required=each.required, style=each.style)
        for name, each in tool.parameters.items()
    }
    return replace(tool, description=tame(tool.description), summary=tame(tool.summary), parameters=parameters)


def _words(schema: Any, tame: Callable[[str], str]) -> Any:
    if isinstance(schema, Mapping):
        return {
            name: tame(each) if name in TOLD and isinstance(each, str) else _words(each, tame) for name, each in schema.items()
        }
    return [_words(each, tame) for each in schema] if isinstance(schema, list | tuple) else schema

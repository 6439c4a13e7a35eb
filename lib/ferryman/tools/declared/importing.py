"""Prompt injection protection at import: documents become tools of one task, and their texts cannot pass for anyone else's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ferryman import offload, openapi
from ferryman.declared import texts
from ferryman.domain.problem import build_input_error
from ferryman.domain.tools.declared import CLUSTER_CHARACTERS_MAX, DeclaredTool
from ferryman.offload import PackedSequence
from ferryman.openapi import DocumentImport
from ferryman.ports.clusters import Clusters

Answer = TypeVar("Answer")
Neutralize = Callable[[str], str]

PROSE = frozenset(("description", "title", "summary"))
"""The keywords of a schema whose texts the model reads as prose."""

WHOLE = frozenset(("const", "default"))
"""The keywords that are left out where a part of their value is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTools:
    """The tools of `cluster` that an import makes, the `names` of the enabled ones, the number of the disabled ones by reason,
    and notes for the owner."""

    cluster: str
    tools: PackedSequence[DeclaredTool]
    names: tuple[str, ...]
    disabled: Mapping[str | None, int]
    notes: tuple[str, ...]


StoredNames = Mapping[str, frozenset[str]]
"""The clusters of a task, each with the names of its tools."""


async def import_tools(
    clusters: Clusters, task: str, source: DocumentImport, *, neutralize: Neutralize, owner: str
) -> ImportedTools:
    """Return the tools of documents, which may be parsed or texts; nothing is stored yet.

    `neutralize`, a function of a module, is applied to all that the model reads. Raise `InvalidInputError`, also where it takes
    more than its budget.
    """
    stored = await list_stored_names(clusters, task)
    return await run_document_worker(owner, "spec", build_tools, source, stored, neutralize)


async def list_stored_names(clusters: Clusters, task: str) -> StoredNames:
    """Return the names that `task` has stored already."""
    return {cluster.name: frozenset(row.name for row in cluster.rows) for cluster in await clusters.list(task)}


async def run_document_worker(owner: str, field: str, function: Callable[..., Answer], *arguments: Any, **named: Any) -> Answer:
    """Run `function(*arguments, **named)`, which reads documents, in a worker and return its value.

    Raise `InvalidInputError` of `field` where it takes more than its budget.
    """
    try:
        return await offload.run(owner, offload.DOCUMENT, function, *arguments, **named)
    except offload.OverBudgetError as error:
        raise build_input_error(field, f"cannot be read: {error}") from None


def build_tools(source: DocumentImport, stored: StoredNames, neutralize: Neutralize) -> ImportedTools:
    """Return the tools of `source` for a task that has `stored` already; pure, for workers. Raise `InvalidInputError`."""
    documents = {
        uri: texts.loads(document, what="the document") if isinstance(document, str | bytes) else document
        for uri, document in source.documents.items()
    }
    source = replace(source, documents=documents)
    imported = openapi.read(source)
    # a name of invisible characters must not become that of the tools without a cluster, and replace them
    cluster = neutralize(imported.cluster)[:CLUSTER_CHARACTERS_MAX].strip() or "openapi"
    reserved = {name for other, names in stored.items() if other != cluster for name in names}
    if reserved & {tool.name for tool in imported.tools}:
        imported = openapi.read(source, reserved)
    tools = tuple(replace(neutralize_tool(tool, neutralize), cluster=cluster) for tool in imported.tools)
    return ImportedTools(
        cluster=cluster,
        tools=PackedSequence(tools),
        names=tuple(tool.name for tool in tools if tool.enabled),
        disabled=dict(Counter(tool.reason for tool in tools if not tool.enabled)),
        notes=imported.notes,
    )


def neutralize_tool(tool: DeclaredTool, neutralize: Neutralize) -> DeclaredTool:
    """Return the tool of a document with all that the model reads neutralized."""
    parameters = {
        name: replace(parameter, schema=neutralize_schema(parameter.schema, neutralize))
        for name, parameter in tool.parameters.items()
    }
    reason = tool.reason
    if reason is not None:  # it may quote the document, and the model reads it as a sentence of ours
        reason = " ".join(neutralize(reason).split()).encode("ascii", "replace").decode()
    description, summary = neutralize(tool.description), neutralize(tool.summary)
    return replace(tool, description=description, summary=summary, reason=reason, parameters=parameters)


def neutralize_schema(schema: Any, neutralize: Neutralize) -> Any:
    """Return `schema` with its prose neutralized; names and values cannot be changed, so that harmful ones are left out."""
    if isinstance(schema, list | tuple):
        return [neutralize_schema(item, neutralize) for item in schema if not _is_harmful(item, neutralize)]
    if not isinstance(schema, Mapping):
        return schema
    neutral = {}
    for name, value in schema.items():
        if name in PROSE and isinstance(value, str):
            neutral[name] = neutralize(value)
            continue
        inner = neutralize_schema(value, neutralize)
        is_incomplete = inner != value and (name in WHOLE or (name == "enum" and not inner))
        if not (is_incomplete or _is_harmful(name, neutralize) or _is_harmful(value, neutralize)):
            neutral[name] = inner
    return neutral


def _is_harmful(value: Any, neutralize: Neutralize) -> bool:
    """Say whether a text passes for a frame, a token or a role; a word that only begins like one, as a scope may, does not."""
    if not isinstance(value, str) or neutralize(value) == value:
        return False
    return len(value.split()) > 1 or neutralize(f"a{value}") != f"a{value}"

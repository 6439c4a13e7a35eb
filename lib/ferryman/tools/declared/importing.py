"""Importing: documents become tools of one task, whose names are its own and whose words cannot pass for anybody else's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ferryman import offload, openapi
from ferryman.declared import texts
from ferryman.domain.problem import build_input_error
from ferryman.domain.tools.declared import CLUSTER_CHARACTERS_MAX, DeclaredTool, Parameter
from ferryman.offload import PackedSequence
from ferryman.openapi import Imported
from ferryman.ports.clusters import Clusters

Answer = TypeVar("Answer")

TOLD = frozenset(("description", "title", "summary"))
"""Where a schema speaks to the model in words."""

WHOLE = frozenset(("const", "default"))
"""What is left out where a part of it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentImport:
    """What is to be imported: documents by URL, each parsed or as its text, and how. `credentials` are names with the host
    patterns of each."""

    documents: Mapping[str, Any] = field(repr=False)
    root: str
    cluster: str | None = None
    domains: Collection[str]
    credentials: Mapping[str, Collection[str]]
    server: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTools:
    """What an import makes of documents: `tools` of `cluster`, the `names` of those that are enabled, how many are `disabled`
    by the reason, and notes for the owner."""

    cluster: str
    tools: PackedSequence[DeclaredTool]
    names: tuple[str, ...]
    disabled: Mapping[str | None, int]
    notes: tuple[str, ...]


StoredNames = Mapping[str, frozenset[str]]
"""The clusters of a task, each with the names of its tools."""


async def import_tools(
    clusters: Clusters, task: str, wanted: DocumentImport, *, tame: Callable[[str], str], owner: str
) -> ImportedTools:
    """The tools that would be stored; nothing is yet. A document's words are tamed: its author is nobody the model may heed.

    `tame` is a function of a module. Raises `InvalidInputError`, also where it takes more than its budget.
    """
    return await run_document_worker(owner, "spec", build_tools, wanted, await list_stored_names(clusters, task), tame)


async def list_stored_names(clusters: Clusters, task: str) -> StoredNames:
    """What `task` has stored already."""
    return {each.name: frozenset(row.name for row in each.rows) for each in await clusters.list(task)}


async def run_document_worker(owner: str, field: str, function: Callable[..., Answer], *arguments: Any, **named: Any) -> Answer:
    """`function(*arguments, **named)`, which reads documents, in a worker.

    Raises `InvalidInputError` of `field` where it takes more than its budget.
    """
    try:
        return await offload.run(owner, offload.DOCUMENT, function, *arguments, **named)
    except offload.OverBudgetError as error:
        raise build_input_error(field, f"cannot be read: {error}") from None


def build_tools(wanted: DocumentImport, held: StoredNames, tame: Callable[[str], str]) -> ImportedTools:
    """The tools of `wanted` for a task that has `list_stored_names` already: a pure function for workers. Raises
    `InvalidInputError`."""
    documents = {
        name: texts.loads(each, what="the document") if isinstance(each, str | bytes) else each
        for name, each in wanted.documents.items()
    }

    def read(taken: Collection[str]) -> Imported:
        return openapi.read(
            documents,
            wanted.root,
            cluster=wanted.cluster,
            domains=wanted.domains,
            credentials=wanted.credentials,
            taken=taken,
            server=wanted.server,
        )

    found = read(())
    # a name of characters that nobody sees must not become that of the tools without a cluster, and replace them
    cluster = tame(found.cluster)[:CLUSTER_CHARACTERS_MAX].strip() or "openapi"
    taken = {name for other, names in held.items() if other != cluster for name in names}
    if taken & {each.name for each in found.tools}:
        found = read(taken)
    tools = tuple(replace(_tamed(each, tame), cluster=cluster) for each in found.tools)
    return ImportedTools(
        cluster=cluster,
        tools=PackedSequence(tools),
        names=tuple(each.name for each in tools if each.enabled),
        disabled=dict(Counter(each.reason for each in tools if not each.enabled)),
        notes=found.notes,
    )


def _tamed(tool: DeclaredTool, tame: Callable[[str], str]) -> DeclaredTool:
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

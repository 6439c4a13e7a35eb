"""Documents: the large bodies of the API, read and written by pure functions in workers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from ferryman import openapi
from ferryman.declared import texts
from ferryman.domain.problem import build_input_error
from ferryman.domain.tools.declared import Cluster, DeclaredTool
from ferryman.domain.tools.tool import Tool
from ferryman.openapi import DocumentImport
from ferryman.selection.declared import find_declared_tools
from ferryman.serving.api.shapes import custom as shapes
from ferryman.tools.declared.importing import ImportedTools, StoredNames, build_tools

INLINE = "https://inline.invalid/"
"""The address of a document that was sent in the request, for references to it; nothing is ever fetched from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportTarget:
    """What an import is for: what the task may reach and has already, and how a document's texts are neutralized (prompt
    injection). `count` hears how many operations are read, of all."""

    domains: tuple[str, ...]
    credentials: Mapping[str, Collection[str]]
    pairs: Collection[str]
    existing: StoredNames
    neutralize: Callable[[str], str]
    count: Callable[[int, int], None] = openapi.ignore_count


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """A request to import: its `body` without the documents, and the tools `imported` from them, if they came along.

    `faults` are pydantic's, if any; then there is no body.
    """

    body: shapes.ImportBody = field(default_factory=shapes.ImportBody)
    imported: ImportedTools | None = field(default=None, repr=False)
    faults: tuple[Mapping[str, Any], ...] = ()


def read_import(body: bytes, target: ImportTarget) -> ImportRequest:
    """Return what an import requests, with the tools of the documents that it holds. Raise `InvalidInputError`."""
    try:
        # by ours, since the model's own reader takes 600 bytes for the smallest object
        request = shapes.ImportBody.model_validate(texts.loads_json(body, what="body"))
    except ValidationError as error:
        return ImportRequest(faults=tuple(error.errors(include_url=False, include_input=False, include_context=False)))
    if (request.url is None) == (request.spec is None):
        raise build_input_error("url", "give either url or spec")
    if request.url is not None and request.documents:
        raise build_input_error("documents", "is for a spec that is sent along")
    imported = None
    if request.url is None:
        root = f"{INLINE}spec"
        spec = texts.loads(request.spec, what="spec") if isinstance(request.spec, str) else request.spec
        others = {f"{INLINE}{name}": texts.loads(text, what="documents") for name, text in request.documents.items()}
        imported = _make_import({**others, root: spec}, root, request, target)
    return ImportRequest(body=request.model_copy(update={"spec": None, "documents": {}}), imported=imported)


def read_fetched(fetched: Mapping[str, bytes], request: ImportRequest, target: ImportTarget) -> ImportedTools:
    """Return what is to be made of documents that were fetched for an import. Raise `InvalidInputError`."""
    assert request.body.url is not None, "it is what was fetched"
    documents = {name: texts.loads(text, what="url") for name, text in fetched.items()}
    return _make_import(documents, request.body.url, request.body, target)


def write_import(imported: ImportedTools, dry_run: bool) -> bytes:
    """Return the answer to an import."""
    return _import(imported, dry_run).model_dump_json().encode()


def write_brief_import(imported: ImportedTools) -> bytes:
    """Return the answer to a stored import, without its tools and notes, which may take megabytes."""
    return _import(imported, False).model_copy(update={"data": (), "notes": ()}).model_dump_json().encode()


def _import(imported: ImportedTools, dry_run: bool) -> shapes.ImportResponse:
    tools = [*imported.tools]
    return shapes.ImportResponse(
        data=_records(tools),
        cluster=imported.cluster,
        imported=len(tools),
        disabled=sum(not tool.enabled for tool in tools),
        tokens=openapi.estimate_tokens(tools),
        notes=imported.notes,
        dry_run=dry_run,
    )


def write_tools(tools: Iterable[DeclaredTool], clusters: Iterable[Cluster], following: str | None) -> bytes:
    """Return a page of a task's custom tools, the `clusters` of all of them, and the cursor of the page that follows."""
    data, known = tuple(map(shapes.to_response, tools)), tuple(map(shapes.to_cluster, clusters))
    return shapes.CustomToolList(data=data, clusters=known, next=following).model_dump_json().encode()


def write_found_tools(tools: Sequence[DeclaredTool], clusters: Iterable[Cluster], query: str, limit: int) -> bytes:
    """Return at most `limit` of a task's custom tools, those that `query` asks for, the best first."""
    return write_tools(find_declared_tools(tools, query, limit), clusters, None)


def write_chat_tools(tools: Iterable[Tool | DeclaredTool], following: str | None) -> bytes:
    """Return a page of the tools as the task's model is shown them, and the cursor of the one that follows."""
    response = (
        shapes.ChatTool(
            name=tool.name,
            description=tool.description or (tool.summary if isinstance(tool, DeclaredTool) else ""),
            parameters=dict(tool.schema),
        )
        for tool in tools
    )
    return shapes.ChatTools(tools=tuple(response), next=following).model_dump_json().encode()


def _make_import(documents: Mapping[str, Any], root: str, body: shapes.ImportBody, target: ImportTarget) -> ImportedTools:
    source = DocumentImport(
        documents=documents,
        root=root,
        cluster=body.cluster,
        server=body.server,
        only=body.only,
        tags=body.tags,
        domains=target.domains,
        credentials=target.credentials,
        pairs=target.pairs,
        count=target.count,
    )
    return build_tools(source, target.existing, target.neutralize)


def _records(tools: Iterable[DeclaredTool]) -> tuple[shapes.CustomTool, ...]:
    return tuple(shapes.to_response(tool) for tool in sorted(tools, key=lambda tool: (tool.cluster, tool.name)))

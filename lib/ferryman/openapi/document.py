"""Document: an OpenAPI 3.0, 3.1 or Swagger 2.0 document as a cluster of declared tools (S3-45, S3-55 … S3-59, S3-61)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.declared import check
from ferryman.domain.http.request import Method
from ferryman.domain.problem import build_input_error
from ferryman.domain.tools.declared import CLUSTER_CHARACTERS_MAX, TOOLS_PER_TASK_MAX, DeclaredTool
from ferryman.openapi.context import DocumentImport, ImportContext
from ferryman.openapi.names import build_tool_name, make_unique
from ferryman.openapi.operation import Operation, read_operation
from ferryman.openapi.references import Node
from ferryman.openapi.selection import is_selected
from ferryman.openapi.values import to_line, to_mapping

CHARACTERS_PER_TOKEN = 4
_METHODS = {method.value.lower(): method for method in Method}
_OTHERS = ("options", "trace", "query")

OPERATIONS_MAX = 25_000
"""The operations of a document, selected ones and others: reading more takes longer than is worth waiting for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenApiTools:
    """The result of an import: the tools of `cluster`, disabled ones included, and what its owner should know."""

    cluster: str
    tools: tuple[DeclaredTool, ...]
    notes: tuple[str, ...]


def find_missing(documents: Mapping[str, Any], root: str) -> list[str]:
    """Return the documents, as absolute URIs, that reading `root` requires and that are not there; more may follow.

    These are https URLs only, and for a root that is a file those in its folder. Raise `InvalidInputError` as `read` does.
    """
    context = ImportContext(DocumentImport(documents=documents, root=root))
    read_tools(context, "", (), most=None)
    return list(context.references.missing)


def read(source: DocumentImport, reserved: Iterable[str] = ()) -> OpenApiTools:
    """Return the operations of the root document as tools. No tool has a `reserved` name, nor that of a built-in one.

    Raise `InvalidInputError` where it is not such a document, or has no operations or more than a task may have tools.
    """
    context = ImportContext(source)
    title = to_mapping(context.root.fields.get("info")).get("title")
    cluster = to_line(source.cluster, CLUSTER_CHARACTERS_MAX) or to_line(title, CLUSTER_CHARACTERS_MAX) or "openapi"
    tools = read_tools(context, cluster, reserved)
    context.notes.place = ""
    for uri in context.references.missing:
        context.notes.add(f"{to_line(uri, 200)} is referred to and is missing")
    return OpenApiTools(cluster=cluster, tools=tools, notes=context.notes.list_lines())


def estimate_tokens(tools: Iterable[DeclaredTool]) -> int:
    """Return about how many prompt tokens the definitions of the enabled `tools` cost: one per four characters of JSON.

    An estimate: the provider counts in its own way.
    """
    definitions = (tool.to_definition() for tool in tools if tool.enabled)
    return sum(-(-len(json.dumps(definition, ensure_ascii=False)) // CHARACTERS_PER_TOKEN) for definition in definitions)


def read_tools(
    context: ImportContext, cluster: str, reserved: Iterable[str], *, most: int | None = TOOLS_PER_TASK_MAX
) -> tuple[DeclaredTool, ...]:
    """Return the tools of all operations that are selected, at most `most`. Raise `InvalidInputError`."""
    operations, source = _list_operations(context), context.source
    numbers = dict.fromkeys((*check.BUILT_IN, *reserved), 1)
    selected = list[tuple[Operation, str]]()
    for operation in operations:
        operation_id = operation.node.fields.get("operationId")
        name = operation_id if isinstance(operation_id, str) else ""
        name = make_unique(build_tool_name(name, operation.method, operation.path), numbers)
        if is_selected(operation, name, only=source.only, tags=source.tags):
            selected.append((operation, name))
        if most is not None and len(selected) > most:  # before any is read, which takes much longer
            raise build_input_error("spec.paths", f"has more than {most:,} operations, the most tools of a task")
    if not selected:
        field = "only" if source.only else "tags"
        raise build_input_error(field, f"fits none of the document's {len(operations):,} operations")
    tools = list[DeclaredTool]()
    for operation, name in selected:
        context.notes.place = name
        tools.append(read_operation(context, operation, name, cluster))
        source.count(len(tools), len(selected))
    return tuple(tools)


def _list_operations(context: ImportContext) -> list[Operation]:
    operations: list[Operation] = []
    for path, value in to_mapping(context.root.fields.get("paths")).items():
        if not isinstance(path, str) or path.startswith("x-"):
            continue
        item = Node(value, context.root.uri)
        target = context.references.follow(item)
        if target is None:
            context.notes.add("a path refers to something that is missing: it is left out")
        items = (item,) if target is None or target.value is item.value else (item, target)
        operations.extend(_list_methods(path, items))
        if len(operations) > OPERATIONS_MAX:
            raise build_input_error("spec.paths", f"has more than {OPERATIONS_MAX:,} operations")
        if any(name in item.fields for item in items for name in _OTHERS):
            context.notes.add("OPTIONS, TRACE and QUERY operations are left out")
    if not operations:
        raise build_input_error("spec.paths", "has no operations")
    return operations


def _list_methods(path: str, items: tuple[Node, ...]) -> Iterator[Operation]:
    for name, method in _METHODS.items():
        nodes = [node for node in (item.child(name) for item in items) if isinstance(node.value, dict)]
        if nodes:
            yield Operation(method, path, nodes[0], items)

"""Document: an OpenAPI 3.0, 3.1 or Swagger 2.0 document as a cluster of declared tools (S3-45, S3-55 … S3-59, S3-61)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.declared import check
from ferryman.domain.http.request import Method
from ferryman.domain.problem import build_input_error
from ferryman.domain.tools.declared import CLUSTER_CHARACTERS_MAX, TOOLS_PER_TASK_MAX, DeclaredTool
from ferryman.domain.tools.tool import Tool
from ferryman.openapi import names
from ferryman.openapi.notes import Notes
from ferryman.openapi.operation import Operation, Reader
from ferryman.openapi.references import Node, References
from ferryman.openapi.schemas import Schemas
from ferryman.openapi.security import Credentials
from ferryman.openapi.values import mapping, text

CHARACTERS_PER_TOKEN = 4
_METHODS = tuple((each.value.lower(), each) for each in Method)
_OTHERS = ("options", "trace", "query")


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import makes: the tools of `cluster`, those disabled among them, and what its owner should know."""

    cluster: str
    tools: tuple[DeclaredTool, ...]
    notes: tuple[str, ...]


def needed(documents: Mapping[str, Any], root: str) -> list[str]:
    """The documents, as absolute URIs, that reading `root` asks for and that are not among `documents`; more may follow.

    Only what is under https is asked for, and for a root that is a file what is in its folder. Raises `InvalidInputError` as
    `read` does.
    """
    reader = _reader(documents, root, domains=(), credentials={})
    _tools(reader, "", ())
    return list(reader.references.missing)


def read(
    documents: Mapping[str, Any],
    root: str,
    *,
    cluster: str | None = None,
    domains: Collection[str],
    credentials: Credentials | None = None,
    taken: Iterable[str] = (),
    server: str | None = None,
) -> Imported:
    """The operations of the document `root` as tools. `documents` are by absolute URI, parsed; `root` is one of them.

    `domains` are the task's approved host patterns, `credentials` the names of its credentials with the patterns each is bound
    to, `taken` are names that no tool may have, beside the built-in ones. `cluster` is its title where None (S3-47). `server`
    is a URL to go to in place of the servers the document names, which may be none or examples; it must be approved like them.
    Raises `InvalidInputError` where it is no such document, or has no operations or more than a task may have tools.
    """
    reader = _reader(documents, root, domains=domains, credentials=credentials or {}, server=server)
    title = mapping(mapping(reader.root.value).get("info")).get("title")
    name = text(cluster, CLUSTER_CHARACTERS_MAX) or text(title, CLUSTER_CHARACTERS_MAX) or "openapi"
    tools = _tools(reader, name, taken)
    reader.notes.at("")
    for each in reader.references.missing:
        reader.notes.add(f"{text(each, 200)} is referred to and is not there")
    return Imported(cluster=name, tools=tools, notes=reader.notes.lines())


def tokens(tools: Iterable[DeclaredTool]) -> int:
    """About how many prompt tokens the definitions of the enabled `tools` cost: one for every four characters of their JSON.

    An estimate: the provider counts in its own way.
    """
    definitions = (
        Tool(name=each.name, description=each.description, schema=each.schema).to_definition() for each in tools if each.enabled
    )
    return sum(-(-len(json.dumps(each, ensure_ascii=False)) // CHARACTERS_PER_TOKEN) for each in definitions)


def _reader(
    documents: Mapping[str, Any],
    root: str,
    *,
    domains: Collection[str],
    credentials: Credentials,
    server: str | None = None,
) -> Reader:
    document = documents.get(root)
    if not isinstance(document, dict):
        raise build_input_error("spec", "must be an object: an OpenAPI 3.0 or 3.1 document, or a Swagger 2.0 one")
    references, notes = References(documents, root), Notes()
    return Reader(
        root=Node(document, root),
        version=_version(document),
        references=references,
        schemas=Schemas(references, notes),
        notes=notes,
        domains=domains,
        credentials=credentials,
        server=server,
    )


def _version(document: Mapping[str, Any]) -> str:
    said = document.get("openapi", document.get("swagger"))
    # YAML reads a version without quotes as a number.
    version = f"{said:.1f}" if isinstance(said, float) else text(said, 16)
    for prefix in ("3.0", "3.1") if "openapi" in document else ("2.0",):
        if version == prefix or version.startswith(f"{prefix}."):
            return prefix
    found = f"is {version!r}" if version else "is not there"
    raise build_input_error("spec.openapi", f"must be 3.0 or 3.1, or `swagger` 2.0; {found}")


def _tools(reader: Reader, cluster: str, taken: Iterable[str]) -> tuple[DeclaredTool, ...]:
    found = _operations(reader)
    used = dict.fromkeys((*check.BUILT_IN, *taken), 1)
    tools = []
    for each in found:
        said = mapping(each.node.value).get("operationId")
        name = names.unique(names.tool(said if isinstance(said, str) else "", each.method, each.path), used)
        reader.notes.at(name)
        tools.append(reader.read(each, name, cluster))
    return tuple(tools)


def _operations(reader: Reader) -> list[Operation]:
    found: list[Operation] = []
    paths = mapping(mapping(reader.root.value).get("paths"))
    for path, item in paths.items():
        if not isinstance(path, str) or path.startswith("x-"):
            continue
        here = Node(item, reader.root.uri)
        target = reader.references.follow(here)
        if target is None:
            reader.notes.add("a path refers to what is not there: it is left out")
        parts = (here,) if target is None or target.value is here.value else (here, target)
        found.extend(_of_item(path, parts, reader.notes))
        if len(found) > TOOLS_PER_TASK_MAX:
            raise build_input_error(
                "spec.paths", f"has more than {TOOLS_PER_TASK_MAX:,} operations, which is what a task may have tools"
            )
    if not found:
        raise build_input_error("spec.paths", "has no operations")
    return found


def _of_item(path: str, parts: tuple[Node, ...], notes: Notes) -> Iterable[Operation]:
    for name, method in _METHODS:
        for part in parts:
            said = mapping(part.value).get(name)
            if isinstance(said, dict):
                yield Operation(method, path, Node(said, part.uri), parts)
                break
    if any(name in mapping(part.value) for part in parts for name in _OTHERS):
        notes.add("OPTIONS, TRACE and QUERY operations are left out")

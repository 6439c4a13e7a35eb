"""Operation: one operation of a document as a declared tool, or as a disabled one that says why."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from ferryman.declared import check
from ferryman.domain.http.request import Method
from ferryman.domain.tools.declared import DeclaredTool, Parameter
from ferryman.openapi import bodies, names, parameters, security, servers, swagger
from ferryman.openapi.bodies import Body
from ferryman.openapi.notes import Notes, UnsupportedOperationError
from ferryman.openapi.parameters import Argument
from ferryman.openapi.references import Node, References
from ferryman.openapi.schemas import NODES_MAX, Schemas
from ferryman.openapi.values import mapping, text

SUMMARY_CHARACTERS_MAX = 120
DESCRIPTION_CHARACTERS_MAX = 1_000
PATH_CHARACTERS_MAX = 1_500
ARGUMENT = 10
"""So many schemas' work is a parameter: it is named, and its schema is held against the schema of schemas."""


@dataclass(frozen=True, slots=True)
class Operation:
    """Where a document says an operation: `items` are its path item, more than one where that refers to another."""

    method: Method
    path: str
    node: Node
    items: tuple[Node, ...]

    def lists(self, name: str) -> list[Node]:
        """What the operation, then its path item, say under `name`."""
        return [Node(mapping(each.value).get(name), each.uri) for each in (self.node, *self.items)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """What all operations of an import are read with. `version` is that of the document `root`: "2.0", "3.0" or "3.1".

    `server` is one that the owner names in place of the document's.
    """

    root: Node
    version: str
    references: References
    schemas: Schemas
    notes: Notes
    domains: Collection[str]
    credentials: security.Credentials
    server: str | None = None

    def read(self, operation: Operation, name: str, cluster: str) -> DeclaredTool:
        """The tool called `name`. What cannot be called, or not by this task, is disabled with the first reason found."""
        said = mapping(operation.node.value)
        summary, described = text(said.get("summary"), SUMMARY_CHARACTERS_MAX), text(said.get("description"), 4_000)
        marks = ["Deprecated."] if said.get("deprecated") is True else []
        about = [f"{summary}." if summary and summary[-1] not in ".!?…" else summary, described if described != summary else ""]
        path = servers.path(operation.path[:PATH_CHARACTERS_MAX])
        base, refused = servers.address(self._servers(operation), self.root.uri, self.domains, self.notes)
        tool = DeclaredTool(
            name=name,
            cluster=cluster,
            method=operation.method,
            url=base + path,
            summary=summary or text(path, SUMMARY_CHARACTERS_MAX),
            description=text(" ".join(filter(None, [*marks, *about])), DESCRIPTION_CHARACTERS_MAX),
        )
        if "#" in operation.path:
            self.notes.add("has a '#' in its path: what follows is never sent")
        try:
            keys = security.Keys()
            if refused is None:
                keys = self._keys(operation, base.removeprefix("https://").partition("/")[0])
        except UnsupportedOperationError as unfit:
            refused = str(unfit)
        try:
            if len(operation.path) > PATH_CHARACTERS_MAX:
                raise UnsupportedOperationError(f"has a path of more than {PATH_CHARACTERS_MAX} characters")
            whole = self._filled(tool, operation, keys)
        except UnsupportedOperationError as unfit:
            return replace(tool, enabled=False, reason=str(unfit))
        if refused is None and (problems := check.find_problems(whole, where="")):
            return replace(tool, enabled=False, reason=text(f"{problems[0].field} {problems[0].message}", 300))
        return replace(whole, enabled=refused is None, reason=refused)

    def _servers(self, operation: Operation) -> list[Node]:
        root = mapping(self.root.value)
        if self.server is not None:
            return [Node([{"url": self.server}], self.root.uri)]
        if self.version == "2.0":
            schemes = mapping(operation.node.value).get("schemes", root.get("schemes"))
            return [Node(swagger.servers(root, schemes), self.root.uri)]
        return [*operation.lists("servers"), Node(root.get("servers"), self.root.uri)]

    def _keys(self, operation: Operation, host: str) -> security.Keys:
        root, said = mapping(self.root.value), mapping(operation.node.value)
        own = operation.node if "security" in said else self.root
        required = Node(mapping(own.value).get("security"), own.uri)
        schemes = (
            swagger.security_schemes(root) if self.version == "2.0" else mapping(root.get("components")).get("securitySchemes")
        )
        return security.keys(required, Node(schemes, self.root.uri), host, self.credentials, self.references, self.notes)

    def _filled(self, tool: DeclaredTool, operation: Operation, keys: security.Keys) -> DeclaredTool:
        said = parameters.listed(self.references, *reversed(operation.lists("parameters")))
        body = Node(mapping(operation.node.value).get("requestBody"), operation.node.uri)
        if self.version == "2.0":
            consumes = mapping(operation.node.value).get("consumes", mapping(self.root.value).get("consumes"))
            body = swagger.body(said, consumes) or body
            said = swagger.parameters(said)
        secret = set(security.wires(keys))
        outside = [
            each
            for each in parameters.arguments(said, tool.url, self.notes)
            if (each.place, each.wire.lower() if each.place == "header" else each.wire) not in secret
        ]
        sent = self._body(operation.method, body)
        return self._templates(tool, self._named([*outside, *(sent.arguments if sent else ())]), sent, keys)

    def _body(self, method: Method, node: Node) -> Body | None:
        if node.value is None:
            return None
        if not method.has_body:
            followed = self.references.follow(node)
            if followed is not None and mapping(followed.value).get("required") is True:
                raise UnsupportedOperationError(f"takes a body, which {method} does not send")
            self.notes.add(f"has a body, which {method} does not send: it is left out")
            return None
        return bodies.read(node, self.references, self.schemas)

    def _named(self, arguments: list[Argument]) -> dict[str, Argument]:
        most = check.PARAMETERS_MAX
        if sum(each.required for each in arguments) > most:
            raise UnsupportedOperationError(f"has more than {most} parameters that must be said")
        if len(arguments) > most:
            self.notes.add(f"has more than {most} parameters: optional ones are left out")
            room = most - sum(each.required for each in arguments)
            optional = islice((each for each in arguments if not each.required), room)
            arguments = [*(each for each in arguments if each.required), *optional]
        self.schemas.left -= ARGUMENT * len(arguments)
        if self.schemas.left <= -NODES_MAX // 4:
            raise UnsupportedOperationError("stands behind more schemas and parameters than are read of one document")
        taken: dict[str, int] = {}
        return {names.argument(each.wire, each.place, taken): each for each in arguments}

    def _templates(
        self, tool: DeclaredTool, named: Mapping[str, Argument], body: Body | None, keys: security.Keys
    ) -> DeclaredTool:
        url, query, headers = tool.url, dict[str, Any](), dict[str, str]()
        fields: dict[str, Any] = {}
        for name, each in named.items():
            if each.place == "path":
                url = url.replace(f"{{{each.wire}}}", f"{{\0{name}}}")
            else:
                {"query": query, "header": headers, "body": fields}[each.place][each.wire] = f"{{{{{name}}}}}"
        if body is not None and body.media is not None:
            headers["Content-Type"] = body.media
        whole = fields.get("body") if body is not None and body.whole else None
        return replace(
            tool,
            url=url.replace("\0", ""),
            query={**query, **keys.query},
            headers={**headers, **keys.headers},
            body_type=body.body_type if body else tool.body_type,
            body=None if body is None else whole if body.whole else fields,
            parameters=self._shown(named),
        )

    def _shown(self, named: Mapping[str, Argument]) -> dict[str, Parameter]:
        views = {}
        for name, each in named.items():
            views[name] = self.schemas.view(each.schema)
            if each.description:
                views[name].words["description"] = Node(each.description, "")
        shown = self.schemas.shown(views)
        return {name: Parameter(schema=shown[name], required=each.required, style=each.style) for name, each in named.items()}

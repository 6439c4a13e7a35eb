"""Operation: one operation of a document as a declared tool, or as a disabled one with the reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ferryman.declared import check
from ferryman.domain.http.request import Method
from ferryman.domain.tools.declared import DeclaredTool, Parameter
from ferryman.openapi import parameters, servers, swagger
from ferryman.openapi.context import ImportContext
from ferryman.openapi.names import Numbers, build_argument_name
from ferryman.openapi.parameters import FILENAME, Argument, RequestBody
from ferryman.openapi.references import Node
from ferryman.openapi.schemas import NODES_MAX, drop_misfit
from ferryman.openapi.servers import CredentialTemplates
from ferryman.openapi.values import UnsupportedOperationError, to_line

SUMMARY_CHARACTERS_MAX = 120
DESCRIPTION_CHARACTERS_MAX = 1_000
PATH_CHARACTERS_MAX = 1_500
NODES_PER_ARGUMENT = 10
"""So many schemas' work is a parameter: it is named, and its schema is checked against the schema of schemas."""


@dataclass(frozen=True, slots=True)
class Operation:
    """The place of an operation in a document: `items` are its path item, and the one that this refers to."""

    method: Method
    path: str
    node: Node
    items: tuple[Node, ...]

    def list_children(self, name: str) -> list[Node]:
        """Return the members `name` of the operation, then of its path items."""
        return [node.child(name) for node in (self.node, *self.items)]


def read_operation(context: ImportContext, operation: Operation, name: str, cluster: str) -> DeclaredTool:
    """Return the tool called `name`. One that cannot be called, or not by this task, is disabled with the first reason."""
    base, reason = servers.choose_server(context, _list_servers(context, operation))
    tool = _describe(operation, name, cluster, base)
    if "#" in operation.path:
        context.notes.add("has a '#' in its path: what follows is never sent")
    credentials = CredentialTemplates()
    try:
        if reason is None:
            credentials = _choose_credentials(context, operation, base.removeprefix("https://").partition("/")[0])
    except UnsupportedOperationError as error:
        reason = str(error)
    try:
        if len(operation.path) > PATH_CHARACTERS_MAX:
            raise UnsupportedOperationError(f"has a path of more than {PATH_CHARACTERS_MAX} characters")
        filled = _fill(context, tool, operation, credentials)
    except UnsupportedOperationError as error:
        return replace(tool, enabled=False, reason=str(error))
    if reason is None and (problems := check.find_problems(filled, where="")):
        return replace(tool, enabled=False, reason=to_line(f"{problems[0].field} {problems[0].message}", 300))
    return replace(filled, enabled=reason is None, reason=reason)


def _describe(operation: Operation, name: str, cluster: str, base: str) -> DeclaredTool:
    fields = operation.node.fields
    summary, description = to_line(fields.get("summary"), SUMMARY_CHARACTERS_MAX), to_line(fields.get("description"), 4_000)
    sentences = [
        "Deprecated." if fields.get("deprecated") is True else "",
        f"{summary}." if summary and summary[-1] not in ".!?…" else summary,
        description if description != summary else "",
    ]
    path = servers.quote_path(operation.path[:PATH_CHARACTERS_MAX])
    return DeclaredTool(
        name=name,
        cluster=cluster,
        method=operation.method,
        url=base + path,
        summary=summary or to_line(path, SUMMARY_CHARACTERS_MAX),
        description=to_line(" ".join(filter(None, sentences)), DESCRIPTION_CHARACTERS_MAX),
    )


def _list_servers(context: ImportContext, operation: Operation) -> list[Node]:
    root = context.root
    if context.source.server is not None:
        return [Node([{"url": context.source.server}], root.uri)]
    if context.version == "2.0":
        schemes = operation.node.fields.get("schemes", root.fields.get("schemes"))
        return [Node(swagger.list_swagger_servers(root.fields, schemes), root.uri)]
    return [*operation.list_children("servers"), root.child("servers")]


def _choose_credentials(context: ImportContext, operation: Operation, host: str) -> CredentialTemplates:
    root = context.root
    requirements = (operation.node if "security" in operation.node.fields else root).child("security")
    schemes = root.child("components").child("securitySchemes")
    if context.version == "2.0":
        schemes = Node(swagger.convert_security_schemes(root.fields), root.uri)
    return servers.choose_credentials(context, requirements, schemes, host)


def _fill(context: ImportContext, tool: DeclaredTool, operation: Operation, credentials: CredentialTemplates) -> DeclaredTool:
    """Return `tool` with its arguments and credentials. Raise `UnsupportedOperationError`."""
    nodes = parameters.list_parameters(context.references, *reversed(operation.list_children("parameters")))
    body_node = operation.node.child("requestBody")
    if context.version == "2.0":
        consumes = operation.node.fields.get("consumes", context.root.fields.get("consumes"))
        body_node = swagger.build_body(nodes, consumes) or body_node
        nodes = swagger.convert_parameters(nodes)
    reserved = set(credentials.list_names())
    outside = [
        argument
        for argument in parameters.list_arguments(nodes, tool.url, context.notes)
        if (argument.place, argument.wire.lower() if argument.place == "header" else argument.wire) not in reserved
    ]
    body = _read_body(context, operation.method, body_node)
    arguments = _name_arguments(context, [*outside, *(body.arguments if body else ())])
    return _write_templates(replace(tool, parameters=_show_parameters(context, arguments)), arguments, body, credentials)


def _read_body(context: ImportContext, method: Method, node: Node) -> RequestBody | None:
    if node.value is None:
        return None
    if method.has_body:
        return parameters.read_body(context, node)
    body = context.references.follow(node)
    if body is not None and body.fields.get("required") is True:
        raise UnsupportedOperationError(f"takes a body, which {method} does not send")
    context.notes.add(f"has a body, which {method} does not send: it is left out")
    return None


def _name_arguments(context: ImportContext, arguments: list[Argument]) -> dict[str, Argument]:
    most = check.PARAMETERS_MAX
    required = [argument for argument in arguments if argument.required]
    if len(required) > most:
        raise UnsupportedOperationError(f"has more than {most} required parameters")
    if len(arguments) > most:
        context.notes.add(f"has more than {most} parameters: optional ones are left out")
        arguments = [*required, *(argument for argument in arguments if not argument.required)][:most]
    context.schemas.nodes_left -= NODES_PER_ARGUMENT * len(arguments)
    if context.schemas.nodes_left <= -NODES_MAX // 4:
        raise UnsupportedOperationError("is after more schemas and parameters than are read of one document")
    numbers: Numbers = {}
    return {build_argument_name(argument.wire, argument.place, numbers): argument for argument in arguments}


def _show_parameters(context: ImportContext, arguments: dict[str, Argument]) -> dict[str, Parameter]:
    views = {}
    for name, argument in arguments.items():
        views[name] = context.schemas.view(argument.schema)
        if argument.description:
            views[name].keywords["description"] = Node(argument.description, "")
    schemas = context.schemas.show(views)
    return {
        name: Parameter(schema=drop_misfit(schemas[name]), required=argument.required, style=argument.style)
        for name, argument in arguments.items()
    }


def _write_templates(
    tool: DeclaredTool, arguments: dict[str, Argument], body: RequestBody | None, credentials: CredentialTemplates
) -> DeclaredTool:
    url, query, headers, fields = tool.url, dict[str, Any](), dict[str, str](), dict[str, Any]()
    for name, argument in arguments.items():
        if argument.place == "path":
            # the mark keeps a name from being replaced twice
            url = url.replace(f"{{{argument.wire}}}", f"{{\0{name}}}")
        elif argument.place == "filename":
            fields[argument.wire]["filename"] = f"{{{{#if {name}}}}}{{{{{name}}}}}{{{{else}}}}{FILENAME}{{{{/if}}}}"
        elif argument.media is not None:
            file = {"filename": FILENAME} if argument.is_file else {}
            fields[argument.wire] = {"content": f"{{{{{name}}}}}", "content_type": argument.media, **file}
        else:
            {"query": query, "header": headers, "body": fields}[argument.place][argument.wire] = f"{{{{{name}}}}}"
    if body is not None and body.media is not None:
        headers["Content-Type"] = body.media
    template = fields.get("body") if body is not None and body.whole else fields
    return replace(
        tool,
        url=url.replace("\0", ""),
        query={**query, **credentials.query},
        headers={**headers, **credentials.headers},
        body_type=body.body_type if body else tool.body_type,
        body=None if body is None else template,
    )

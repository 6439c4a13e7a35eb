"""Documents: small ones of each version, and the tools that they are imported as."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ferryman.declared import request
from ferryman.domain.http.request import OutboundRequest
from ferryman.domain.tools.declared import DeclaredTool
from ferryman.openapi import DocumentImport, OpenApiTools, read

ROOT = "https://docs.shop.test/v1/openapi.json"
HOST = "api.shop.test"
STATE = {"date": "2026-01-02", "datetime": "2026-01-02T03:04:05Z", "execution_id": "x1", "task_name": "t"}


def document(paths: Any, version: str = "3.0.3", **more: Any) -> dict[str, Any]:
    return {"openapi": version, "info": {"title": "Shop"}, "servers": [{"url": f"https://{HOST}/v1"}], "paths": paths, **more}


def swagger(paths: Any, **more: Any) -> dict[str, Any]:
    return {
        "swagger": "2.0",
        "info": {"title": "Shop"},
        "host": HOST,
        "basePath": "/v2",
        "schemes": ["https"],
        "paths": paths,
        **more,
    }


def read_tools(root: Any, *, others: Any = None, reserved: Iterable[str] = (), **options: Any) -> OpenApiTools:
    """Return what is made of `root` and of the `others` that it refers to."""
    source = DocumentImport(documents={ROOT: root, **(others or {})}, root=ROOT, **{"domains": [HOST], **options})
    return read(source, reserved)


def only(root: Any, **options: Any) -> DeclaredTool:
    (tool,) = read_tools(root, **options).tools
    return tool


def posting(schema: Any, **more: Any) -> dict[str, Any]:
    """Return a document with a POST whose JSON body has `schema`."""
    body = {"content": {"application/json": {"schema": schema}}}
    return document({"/things": {"post": {"operationId": "make", "requestBody": body}}}, **more)


def post(schema: Any, **more: Any) -> DeclaredTool:
    return only(posting(schema, **more))


def get(*parameters: Any, path: str = "/things", **more: Any) -> DeclaredTool:
    """Return the tool of a GET with `parameters`."""
    return only(document({path: {"get": {"operationId": "look", "parameters": list(parameters)}}}, **more))


def build(tool: DeclaredTool, **arguments: Any) -> OutboundRequest:
    assert tool.enabled, tool.reason
    return request.build_request(tool, arguments, state=STATE)


def schemas(tool: DeclaredTool) -> dict[str, Any]:
    return {name: dict(parameter.schema) for name, parameter in tool.parameters.items()}

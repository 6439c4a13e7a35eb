"""The description of the API: /openapi.json says exactly what is served, problems included."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from ferryman.serving.api.shapes.custom import Import
from ferryman.serving.api.shapes.problem import Problem
from ferryman.serving.problems import MEDIA_TYPE, title_of

_REFERENCE = "#/components/schemas/"
UNSEEN = (Problem, Import)
"""Shapes that FastAPI does not see in any route: the house writes and reads them by itself."""

ALWAYS = (413, 415, 500, 503)
"""What any route may answer."""

TASKS = ("/v1/tasks/{task_id}", "/api/agents/{task_id}")
CHANGES = (("", "post"), ("", "delete"), ("/import-openapi", "post"), ("/cluster/{name}", "delete"))
CONFLICTS = (
    ("/v1/tasks", "post"),
    ("/v1/tasks/{task_id}", "patch"),
    ("/v1/tasks/{task_id}/credentials/{name}", "put"),
    ("/v1/tasks/{task_id}/credentials/connect", "post"),
    ("/v1/tasks/{task_id}/credentials/connect/finish", "post"),
    ("/v1/tasks/{task_id}/executions", "post"),
    *((f"{task}/tools{end}", verb) for task in TASKS for end, verb in CHANGES),
)
"""Where what is asked for may not go with how things stand."""


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of `app`, made once."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        schemas = document["components"]["schemas"]
        for shape in UNSEEN:
            schema = shape.model_json_schema(ref_template=_REFERENCE + "{model}")
            schemas.update(schema.pop("$defs", {}))
            schemas[shape.__name__] = schema
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                # FastAPI presumes one wherever there is a parameter; a path of plain text is never refused for its form
                operation["responses"].pop("422", None)
                for status in _problems(path, method, operation):
                    operation["responses"][str(status)] = _problem(status)
        app.openapi_schema = document
    return app.openapi_schema


def _problems(path: str, method: str, operation: dict[str, Any]) -> list[int]:
    asks = "security" in operation
    body = "requestBody" in operation
    found = {
        400: body,
        401: asks,
        403: path.startswith("/v1/tasks") and path.count("/") < 4 and method in ("post", "patch"),
        404: "{" in path,
        409: (path, method) in CONFLICTS,
        422: body or any(each["in"] == "query" for each in operation.get("parameters", ())),
    }
    return [*(status for status, may in found.items() if may), *ALWAYS]


def _problem(status: int) -> dict[str, Any]:
    return {"description": title_of(status), "content": {MEDIA_TYPE: {"schema": {"$ref": _REFERENCE + "Problem"}}}}

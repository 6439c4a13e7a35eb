"""The description of the API: /openapi.json says exactly what is served, problems included."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from ferryman.serving.api import examples, meanings
from ferryman.serving.api.groups import AGENTS
from ferryman.serving.api.shapes.custom import ImportBody
from ferryman.serving.api.shapes.imports import ImportFile
from ferryman.serving.api.shapes.shape import ProblemDetails
from ferryman.serving.problems import MEDIA_TYPE, get_title

_REFERENCE = "#/components/schemas/"
UNSEEN = (ProblemDetails, ImportBody, ImportFile)
"""Shapes that FastAPI does not see in any route: they are written and read without it."""

CHAT = "createChatMessage"
"""The operation that is under the address of the tool-calling page alone."""

ALWAYS = (413, 415, 500, 503)
"""What any route may answer."""

RETRY_AFTER = {
    "Retry-After": {"description": "After how many seconds to try again", "schema": {"type": "integer", "minimum": 1}}
}

REPLAYED = {
    "Idempotency-Replayed": {
        "description": "True where the request was answered before, under the same Idempotency-Key",
        "schema": {"type": "boolean"},
    }
}


def _leave_out_null(parameter: dict[str, Any]) -> None:
    """Describe a parameter that may be left out as what it is where it is given: no text in a query or a header is null."""
    described = parameter["schema"].pop("anyOf", [])
    for option in described:
        if option != {"type": "null"}:
            parameter["schema"] |= option


def _explain(document: dict[str, Any]) -> None:
    """Add what each tag, operation, parameter and shape means."""
    document["tags"] = [{"name": tag, "description": text} for tag, text in meanings.TAGS.items()]
    answers = examples.build_answers()
    for path, operations in document["paths"].items():
        for operation in operations.values():
            name = operation["operationId"].removesuffix("OfAgent")
            examples.add_examples(operation, name, answers)
            operation["description"] = meanings.OPERATIONS[name]
            if path.startswith(AGENTS) and name != CHAT:
                operation["deprecated"] = True
                twin = path.replace(AGENTS, "/v1/tasks/", 1)
                operation["description"] += " " + meanings.AGENT.format(path=twin)
            for parameter in operation.get("parameters", ()):
                _leave_out_null(parameter)
                if parameter["in"] == "path":
                    is_cluster = name == "deleteCluster" and parameter["name"] == "name"
                    text, example = meanings.CLUSTER if is_cluster else meanings.PARAMETERS[parameter["name"]]
                    parameter |= {"description": text, "example": example}
            if name == "declareTool":
                operation["requestBody"]["content"]["application/json"]["example"] = meanings.TOOL
    for shape, body in meanings.EXAMPLES.items():
        document["components"]["schemas"][shape]["examples"] = [body]


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of `app`, made once."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        schemas = document["components"]["schemas"]
        for shape in UNSEEN:
            schema = shape.model_json_schema(ref_template=_REFERENCE + "{model}")
            schemas.update(schema.pop("$defs", {}))
            schemas[shape.__name__] = schema
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        for operations in document["paths"].values():
            for method, operation in operations.items():
                # FastAPI presumes one wherever there is a parameter; a path of plain text is never refused for its form
                operation["responses"].pop("422", None)
                if any(parameter["name"] == "idempotency-key" for parameter in operation.get("parameters", ())):
                    for answer in operation["responses"].values():
                        answer.setdefault("headers", {}).update(REPLAYED)
                for status in _problems(method, operation):
                    operation["responses"][str(status)] = _problem(status)
        _explain(document)
        app.openapi_schema = document
    return app.openapi_schema


def _problems(method: str, operation: dict[str, Any]) -> list[int]:
    # who asks without a key has a token
    asks = "security" in operation or method == "post"
    body = "requestBody" in operation
    conditions = {
        400: body or method == "post",
        401: asks,
        403: asks,
        404: asks,
        409: asks and method != "get",
        429: asks,
        422: body or method == "post" or any(map(_is_read, operation.get("parameters", ()))),
    }
    return [*(status for status, may in conditions.items() if may), *ALWAYS]


def _is_read(parameter: Mapping[str, Any]) -> bool:
    """Tell whether a parameter has a form that may be wrong: a query's, a number in a path, or a version that is meant."""
    is_number = parameter["schema"].get("type") == "integer"
    return parameter["in"] == "query" or is_number or parameter["name"] in ("if-match", "if-none-match")


def _problem(status: int) -> dict[str, Any]:
    described = {"description": get_title(status), "content": {MEDIA_TYPE: {"schema": {"$ref": _REFERENCE + "ProblemDetails"}}}}
    return described | ({"headers": RETRY_AFTER} if status in (409, 429, 503) else {})

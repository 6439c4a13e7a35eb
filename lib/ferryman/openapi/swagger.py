"""Swagger 2.0: the parts of its documents, converted to OpenAPI 3, an operation at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.openapi.parameters import FORM, JSON, MULTIPART
from ferryman.openapi.references import Node
from ferryman.openapi.values import UnsupportedOperationError, list_texts, to_mapping

_COLLECTIONS: Mapping[str, dict[str, Any]] = {
    "csv": {"explode": False},
    "multi": {"style": "form", "explode": True},
    "ssv": {"style": "spaceDelimited"},
    "pipes": {"style": "pipeDelimited"},
}
_COMMON = ("name", "in", "required", "description")
_NO_SCHEMA = (*_COMMON, "collectionFormat", "allowEmptyValue")
_SCHEMES = 8
_MEDIA = 20


def convert_parameters(nodes: list[Node]) -> list[Node]:
    """Return those of `nodes` that are outside of the body."""
    converted = []
    for node in nodes:
        if node.value["in"] not in ("body", "formData"):
            common = {name: node.value[name] for name in _COMMON if name in node.value}
            converted.append(Node({**common, "schema": _build_schema(node.value), **_build_style(node.value)}, node.uri))
    return converted


def _build_style(value: Mapping[str, Any]) -> dict[str, Any]:
    if value.get("type") != "array":
        return {}
    collection = value.get("collectionFormat", "csv")
    if not isinstance(collection, str) or collection not in _COLLECTIONS:
        raise UnsupportedOperationError("has a list separated by tabs or by something unknown, which is not supported")
    return _COLLECTIONS[collection]


def _build_schema(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: member for name, member in value.items() if name not in _NO_SCHEMA}


def build_body(nodes: list[Node], consumes: Any) -> Node | None:
    """Return the request body that the parameters in `body` and `formData` make, or None."""
    media = list_texts(consumes, _MEDIA)
    whole = next((node for node in nodes if node.value["in"] == "body"), None)
    if whole is not None:
        content = {name: {"schema": whole.value.get("schema", True)} for name in media or [JSON]}
        required = {"required": True} if whole.value.get("required") is True else {}
        return Node({"content": content, "description": whole.value.get("description"), **required}, whole.uri)
    nodes = [node for node in nodes if node.value["in"] == "formData"]
    if not nodes:
        return None
    fields = {node.value["name"]: node.value for node in nodes}
    described = {name: {"description": field["description"]} for name, field in fields.items() if "description" in field}
    form = {
        "schema": {
            "type": "object",
            "properties": {name: {**_build_schema(field), **described.get(name, {})} for name, field in fields.items()},
            "required": [name for name, field in fields.items() if field.get("required") is True],
        },
        "encoding": {name: style for name, field in fields.items() if (style := _build_style(field))},
    }
    if any(field.get("type") == "file" for field in fields.values()):
        media = [MULTIPART]  # nothing else has files, whatever `consumes` says
    return Node({"content": dict.fromkeys([name for name in media if "form" in name] or [FORM], form)}, nodes[0].uri)


def list_swagger_servers(document: Mapping[str, Any], schemes: Any) -> list[dict[str, Any]]:
    """Return the servers that `host`, `basePath` and `schemes` make; https first."""
    host, base = document.get("host"), document.get("basePath", "/")
    base = base if isinstance(base, str) else "/"
    if not isinstance(host, str) or not host:
        return [{"url": base}]
    ordered = sorted(list_texts(schemes, _SCHEMES) or ["https"], key=lambda scheme: scheme != "https")
    return [{"url": f"{scheme}://{host}/{base.lstrip('/')}"} for scheme in ordered]


def convert_security_schemes(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return its `securityDefinitions`; a `basic` one is OpenAPI 3's http."""
    return {
        name: {**scheme, "type": "http", "scheme": "basic"} if to_mapping(scheme).get("type") == "basic" else scheme
        for name, scheme in to_mapping(document.get("securityDefinitions")).items()
    }

"""Swagger 2.0: what its documents say, in the words of OpenAPI 3, an operation at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.openapi.bodies import FORM, JSON
from ferryman.openapi.notes import UnsupportedOperationError
from ferryman.openapi.references import Node
from ferryman.openapi.values import mapping, texts

_COLLECTIONS: Mapping[str, dict[str, Any]] = {
    "csv": {"explode": False},
    "multi": {"style": "form", "explode": True},
    "ssv": {"style": "spaceDelimited"},
    "pipes": {"style": "pipeDelimited"},
}
_BESIDE = ("name", "in", "required", "description", "collectionFormat", "allowEmptyValue")
_SCHEMES = 8
_MEDIA = 20


def parameters(nodes: list[Node]) -> list[Node]:
    """Those of `nodes` that stand outside of the body."""
    return [_parameter(each) for each in nodes if each.value["in"] not in ("body", "formData")]


def _parameter(node: Node) -> Node:
    value = node.value
    collection = _collection(value) if value.get("type") == "array" else {}
    common = {name: value[name] for name in ("name", "in", "required", "description") if name in value}
    return Node({**common, "schema": _schema(value), **collection}, node.uri)


def _collection(value: Mapping[str, Any]) -> dict[str, Any]:
    said = value.get("collectionFormat", "csv")
    if not isinstance(said, str) or said not in _COLLECTIONS:
        raise UnsupportedOperationError("has a list separated by tabs or by something unknown, which is not written here")
    return _COLLECTIONS[said]


def _schema(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in value.items() if name not in _BESIDE}


def body(nodes: list[Node], consumes: Any) -> Node | None:
    """The request body that the parameters in `body` and `formData` are, or None."""
    media = texts(consumes, _MEDIA)
    whole = next((each for each in nodes if each.value["in"] == "body"), None)
    if whole is not None:
        content = {each: {"schema": whole.value.get("schema", True)} for each in media or [JSON]}
        required = {"required": whole.value["required"]} if whole.value.get("required") is True else {}
        return Node({"content": content, "description": whole.value.get("description"), **required}, whole.uri)
    fields = [each for each in nodes if each.value["in"] == "formData"]
    if not fields:
        return None
    if any(each.value.get("type") == "file" for each in fields):
        return Node({"content": {"multipart/form-data": {}}}, fields[0].uri)
    forms = [each for each in media if "form" in each] or [FORM]
    schema = {
        "type": "object",
        "properties": {each.value["name"]: {**_schema(each.value), **_described(each.value)} for each in fields},
        "required": [each.value["name"] for each in fields if each.value.get("required") is True],
    }
    encoding = {each.value["name"]: _collection(each.value) for each in fields if each.value.get("type") == "array"}
    return Node({"content": {each: {"schema": schema, "encoding": encoding} for each in forms}}, fields[0].uri)


def _described(value: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": value["description"]} if "description" in value else {}


def servers(document: Mapping[str, Any], schemes: Any) -> list[dict[str, Any]]:
    """The servers that `host`, `basePath` and `schemes` are; https first."""
    host, base = document.get("host"), document.get("basePath", "/")
    base = base if isinstance(base, str) else "/"
    if not isinstance(host, str) or not host:
        return [{"url": base}]
    said = texts(schemes, _SCHEMES) or ["https"]
    path = "/" + base.lstrip("/")
    return [{"url": f"{each}://{host}{path}"} for each in sorted(said, key=lambda each: each != "https")]


def security_schemes(document: Mapping[str, Any]) -> Any:
    """Its `securityDefinitions`, which say basic for OpenAPI 3's http."""
    found = mapping(document.get("securityDefinitions"))
    return {
        name: {**each, "type": "http", "scheme": "basic"} if isinstance(each, dict) and each.get("type") == "basic" else each
        for name, each in found.items()
    }

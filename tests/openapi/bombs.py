"""Bombs: documents that are small to write and enormous to follow, or enormous in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.openapi.documents import document, posting


def laughs(keyword: str) -> dict[str, Any]:
    """Return ten schemas, of which each has the next ten times: ten thousand million leaves."""

    def ten(name: str) -> Any:
        reference = {"$ref": f"#/components/schemas/{name}"}
        return (
            {"properties": {f"p{index}": reference for index in range(10)}}
            if keyword == "properties"
            else {keyword: [reference] * 10}
        )

    levels = {f"L{level}": ten(f"L{level + 1}") for level in range(10)}
    return posting({"$ref": "#/components/schemas/L0"}, components={"schemas": {**levels, "L10": {"type": "string"}}})


HUGE = "x" * 1_000_000
MANY = list(range(1_000))
BOMBS: dict[str, Callable[[], Any]] = {
    "laughs in properties": lambda: laughs("properties"),
    "laughs in allOf": lambda: laughs("allOf"),
    "laughs in anyOf": lambda: laughs("anyOf"),
    "itself": lambda: posting({"$ref": "#"}),
    "itself in allOf": lambda: posting({"allOf": [{"$ref": "#/x-a"}] * 30}, **{"x-a": {"allOf": [{"$ref": "#/x-a"}] * 30}}),
    "100,000 operations": lambda: document({f"/{index}": {"get": {}} for index in range(100_000)}),
    "100,000 paths without operations": lambda: document({f"/{index}": {} for index in range(100_000)}),
    "500 operations of one name": lambda: document({f"/{index}": {"get": {"operationId": "a"}} for index in range(500)}),
    "names of a megabyte": lambda: document(
        {f"/{HUGE}": {"post": {
            "operationId": HUGE, "summary": HUGE, "description": HUGE,
            "parameters": [{"name": HUGE, "in": "query"}, {"name": "a", "in": HUGE}, {"$ref": f"#/{HUGE}"}],
            "servers": [{"url": f"https://{HUGE}"}], "security": [{HUGE: []}],
            "requestBody": {"content": {HUGE: {"schema": {"properties": {HUGE: {"description": HUGE, "enum": [HUGE]}}}}}},
        }}},
        info={"title": HUGE},
    ),
    "100,000 properties, required and enum": lambda: posting({
        "type": "object", "properties": {f"p{index}": {"enum": MANY} for index in range(100_000)},
        "required": [f"p{index}" for index in range(100_000)],
    }),
    "100,000 parameters": lambda: document(
        {"/a": {"get": {"parameters": [{"name": f"p{i}", "in": "query"} for i in range(100_000)]}}}
    ),
    "100,000 servers": lambda: document({"/a": {"get": {}}}, servers=[{"url": f"https://{i}.test"} for i in range(100_000)]),
    "100,000 kinds of security": lambda: document({"/a": {"get": {}}}, security=[{f"s{i}": []} for i in range(100_000)]),
    "100,000 media types": lambda: document(
        {"/a": {"post": {"requestBody": {"content": {f"a/{i}": {} for i in range(100_000)}}}}}
    ),
    "100,000 braces": lambda: document({"/" + "{a}" * 100_000: {"get": {}}, "/" + "{" * 100_000: {"get": {}}}),
}  # fmt: skip

TOO_MUCH = ("100,000 operations", "100,000 paths without operations")
"""Those that are `InvalidInputError`."""

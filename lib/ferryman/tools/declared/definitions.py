"""The agent's own tools for managing custom ones (S3-18 … S3-20)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.tools.tool import Tool
from ferryman.tools.arguments import build_property, build_schema

NAMES: Mapping[str, Any] = {"items": {"type": "string", "minLength": 1, "maxLength": 200}, "maxItems": 20}
"""What holds for a selection of operations, over HTTP too."""

IMPORT = Tool(
    name="import_openapi_tools",
    description=(
        "Import an OpenAPI or Swagger document: each of its operations becomes a tool of this task, called with "
        "call_custom_tool. The document and the API must be on approved domains. Importing a cluster again replaces it."
    ),
    schema=build_schema(
        {
            "url": build_property("Where the document is (HTTPS only)"),
            "cluster": build_property("What the tools are grouped under; by default the document's title"),
            "only": build_property(
                "Patterns of names of operations to import, getPet*, or of paths, /pets/*; by default all", "array", **NAMES
            ),
            "tags": build_property("Tags of the operations to import; by default all", "array", **NAMES),
        },
        required=["url"],
    ),
)

CALL = Tool(
    name="call_custom_tool",
    description="Call a custom tool of this task by its name, one that was imported just now included.",
    schema=build_schema(
        {"toolName": build_property("The tool's name"), "arguments": build_property("The tool's arguments", "object")},
        required=["toolName"],
    ),
)

DELETE = Tool(
    name="delete_tool_cluster",
    description="Delete a cluster of custom tools from this task, with all its tools at once.",
    schema=build_schema({"cluster": build_property("The cluster's name", minLength=1)}, required=["cluster"]),
)

CUSTOM: tuple[Tool, ...] = (IMPORT, CALL, DELETE)

"""The agent's own tools for handling custom ones (S3-18 … S3-20)."""

from __future__ import annotations

from ferryman.domain.tools.tool import Tool

IMPORT = Tool(
    name="import_openapi_tools",
    description=(
        "Import an OpenAPI or Swagger document: each of its operations becomes a tool of this task, called with "
        "call_custom_tool. The document and the API must be on approved domains. Importing a cluster again replaces it."
    ),
    schema={
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "Where the document is (HTTPS only)"},
            "cluster": {"type": "string", "description": "What the tools are grouped under; by default the document's title"},
        },
        "required": ["url"],
    },
)

CALL = Tool(
    name="call_custom_tool",
    description="Call a custom tool of this task by its name, one that was imported just now included.",
    schema={
        "type": "object",
        "properties": {
            "toolName": {"type": "string", "description": "The tool's name"},
            "arguments": {"type": "object", "description": "The tool's arguments"},
        },
        "required": ["toolName"],
    },
)

DELETE = Tool(
    name="delete_tool_cluster",
    description="Delete a cluster of custom tools from this task, with all its tools at once.",
    schema={
        "type": "object",
        "properties": {"cluster": {"type": "string", "minLength": 1, "description": "The cluster's name"}},
        "required": ["cluster"],
    },
)

CUSTOM: tuple[Tool, ...] = (IMPORT, CALL, DELETE)

"""OpenAPI: the operations of a document become declared tools. Pure: the caller fetches the documents that it refers to."""

from ferryman.openapi.context import DocumentImport, ignore_count
from ferryman.openapi.document import OpenApiTools, estimate_tokens, find_missing, read

__all__ = ["DocumentImport", "OpenApiTools", "estimate_tokens", "find_missing", "ignore_count", "read"]

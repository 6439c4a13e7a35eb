"""OpenAPI: the operations of a document become declared tools. Pure: whoever needs another document of it brings it."""

from ferryman.openapi.document import Imported, needed, read, tokens

__all__ = ["Imported", "needed", "read", "tokens"]

"""OpenAPI: the operations of a document become declared tools. Pure: whoever needs another document of it brings it."""

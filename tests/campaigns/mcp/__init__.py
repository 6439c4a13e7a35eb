"""The conformance suite of the Model Context Protocol, asked about our engine and about the server of its Python SDK."""

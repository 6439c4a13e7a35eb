"""Web search: its tool runs in a function without keys, and its `db` is the operator's search engine.

The engine's address comes from the settings alone (`searxng`): nothing that a model writes leads a search elsewhere.
"""

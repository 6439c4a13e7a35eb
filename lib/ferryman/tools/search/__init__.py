"""Web search: its tool runs in a function without keys, and its `db` is the operator's search engine."""

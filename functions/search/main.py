"""Web search at the operator's endpoint, as a function of its own: no key, no model, no store."""

from ferryman.serving import search

main = search.serve()

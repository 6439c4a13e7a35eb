"""Public pages as a function of their own: no store, no key, no model."""

from ferryman.serving import web

main = web.serve()

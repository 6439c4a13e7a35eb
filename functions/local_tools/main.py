"""Local functions as a function of their own: no store, no key, no model."""

from ferryman.serving import local_tools

main = local_tools.serve()

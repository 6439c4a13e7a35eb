"""The http_get tool as a function of its own."""

from ferryman.serving import tool

main = tool.serve("http_get")

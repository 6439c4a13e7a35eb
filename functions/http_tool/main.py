"""The http_tool tool as a function of its own; it also finishes what a person consents to."""

from ferryman.serving import tool

main = tool.serve("http_tool")

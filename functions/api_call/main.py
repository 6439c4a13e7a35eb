"""The api_call tool as a function of its own."""

from ferryman.serving import tool

main = tool.serve("api_call")

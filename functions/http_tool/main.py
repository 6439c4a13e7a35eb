"""The custom tools, which a task's owner declares or imports, as one function."""

from ferryman.serving import tool

main = tool.serve("http_tool")

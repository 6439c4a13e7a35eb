"""The custom tools, which a task's owner declares or imports, as one function."""

from ferryman.serving import http_tool

main = http_tool.serve()

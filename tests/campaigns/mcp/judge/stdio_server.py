"""A server of the `mcp` SDK on standard input and output, for the SDK's own virtual environment."""

import os

from mcp.server import MCPServer

server = MCPServer("local")


@server.tool()
def echo(text: str) -> str:
    """Answer the text."""
    return text


@server.tool()
def name_variables() -> str:
    """Answer the names of the variables of the environment, and the value of one."""
    return " ".join([*sorted(os.environ), os.environ.get("SDK_KEY", "")])


server.run()

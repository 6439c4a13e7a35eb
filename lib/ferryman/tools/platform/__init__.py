"""Tools of the platform's own MCP server: they read and change a workspace for the person whose execution calls them.

They run in the function `platform`. Which user and workspace a call is for is in its signed token, never in its arguments.
"""

"""MCP servers of an agent, and their tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.client import answers
from ferryman.client.request import AnswerPage, ApiRequest, build_path, delete, get, patch, post, read_as, read_page


def create_mcp_server(agent: str, server: Mapping[str, Any], *, key: str | None = None) -> ApiRequest[answers.RemoteServerJson]:
    """Create an MCP server of an agent, and have its tools listed; `key` is an idempotency key of yours."""
    return post(build_path("agents", agent, "mcp"), read_as(answers.RemoteServerJson), server, key=key)


def list_mcp_servers(
    agent: str, *, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.RemoteServerJson]]:
    """Return a page of an agent's MCP servers."""
    return get(build_path("agents", agent, "mcp"), read_page("servers"), limit=limit, cursor=cursor)


def get_mcp_server(agent: str, server: str) -> ApiRequest[answers.RemoteServerJson]:
    """Return one MCP server of an agent."""
    return get(build_path("agents", agent, "mcp", server), read_as(answers.RemoteServerJson))


def change_mcp_server(agent: str, server: str, change: Mapping[str, Any]) -> ApiRequest[answers.RemoteServerJson]:
    """Change whether an MCP server or tools of it are enabled, or where it is."""
    return patch(build_path("agents", agent, "mcp", server), read_as(answers.RemoteServerJson), change)


def delete_mcp_server(agent: str, server: str) -> ApiRequest[None]:
    """Delete an MCP server, with its credentials."""
    return delete(build_path("agents", agent, "mcp", server))


def list_mcp_tools(
    agent: str, server: str, *, limit: int | None = None, cursor: str | None = None
) -> ApiRequest[AnswerPage[answers.RemoteToolJson]]:
    """Return a page of the tools of an MCP server, with what is new or changed."""
    return get(build_path("agents", agent, "mcp", server, "tools"), read_page("data"), limit=limit, cursor=cursor)


def accept_mcp_tools(agent: str, server: str, digests: Mapping[str, str]) -> ApiRequest[answers.RemoteServerJson]:
    """Accept tools of an MCP server: the digests of the descriptors that were read, by the server's names of the tools."""
    place = build_path("agents", agent, "mcp", server, "accept")
    return post(place, read_as(answers.RemoteServerJson), {"digests": digests})


def refresh_mcp_server(agent: str, server: str) -> ApiRequest[answers.RemoteServerJson]:
    """Have the tools of an MCP server listed again."""
    return post(build_path("agents", agent, "mcp", server, "refresh"), read_as(answers.RemoteServerJson))


def begin_server_connection(agent: str, server: str, body: Mapping[str, Any]) -> ApiRequest[answers.ServerConnectionJson]:
    """Begin to connect an MCP server by a person's consent: the answer says at which page."""
    return post(build_path("agents", agent, "mcp", server, "connect"), read_as(answers.ServerConnectionJson), body)


def finish_server_connection(
    agent: str, server: str, state: str, code: str, iss: str | None = None
) -> ApiRequest[answers.ConnectedServerJson]:
    """Finish to connect an MCP server, with what its consent page led back with."""
    answer = {"state": state, "code": code, **({} if iss is None else {"iss": iss})}
    place = build_path("agents", agent, "mcp", server, "connect", "finish")
    return post(place, read_as(answers.ConnectedServerJson), answer)

"""`ferryman mcp add`, `list`, `show`, `accept`, …: the MCP servers of an agent. What they write is shown, and never obeyed."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from ferryman.cli import exits
from ferryman.cli.commands import ApiSession, api_command
from ferryman.cli.mcp_arguments import list_argument_lines
from ferryman.cli.screen import shorten
from ferryman.client import PAGE_MAX
from ferryman.domain.approvals.visible import show_text
from ferryman.domain.remote_servers.pin import PinState
from ferryman.domain.remote_servers.server import ServerState

AGENT = click.option("--agent", metavar="ID", help="The agent whose server it is. Default: the workspace's default one.")
VALUE_CHARACTERS_MAX = 65_536
DESCRIPTION_CHARACTERS = 2_000
WAITING = (PinState.NEW, PinState.CHANGED)
COUNTED = {
    PinState.ACCEPTED: "accepted",
    PinState.NEW: "new",
    PinState.CHANGED: "changed",
    PinState.DISABLED: "disabled",
    PinState.REFUSED: "refused",
    PinState.MISSING: "gone",
}
"""How the states of tools are called where they are counted."""

STATES = {
    ServerState.NEW: "is added, and was not listed yet",
    ServerState.LISTED: "is listed",
    ServerState.NEEDS_AUTHORIZATION: "needs authorization",
    ServerState.UNREACHABLE: "is unreachable",
}
COLUMNS = ("name", "url", "auth", "state", "enabled", "accepted", "waiting", "refused", "verified_at")
TOOL_COLUMNS = ("tool", "state", "tokens", "description", "reason")


class UnknownServerError(click.ClickException):
    """The agent has no server of that name."""

    exit_code = exits.FAILED


class UnknownToolError(click.ClickException):
    """The server lists no tool of that name."""

    exit_code = exits.FAILED


@click.command()
@click.argument("name")
@click.argument("url")
@click.option(
    "--header", "headers", multiple=True, metavar="HEADER=NAME", help="A header whose value the credential NAME has; repeat."
)
@click.option("--oauth", is_flag=True, help="A person consents at its authorization server: ferryman mcp connect.")
@AGENT
@api_command
async def add(session: ApiSession, /, name: str, url: str, headers: tuple[str, ...], oauth: bool, agent: str | None) -> int:
    """Add the MCP server at URL to an agent, as NAME: its tools are NAME__TOOL, and wait until you accept them.

    The value of each header is asked for without showing it, or read from standard input, a line for each. It is sealed,
    and sent to that server alone:

    \b
        ferryman mcp add books https://mcp.books.example/mcp --header Authorization=BOOKS_KEY < bearer.txt
        ferryman mcp accept books
    """
    names = _read_pairs(headers)
    body: dict[str, Any] = {"name": name, "url": url}
    if names:
        body |= {"headers": {header: _read_value(f"{header} ({names[header]})") for header in names}, "credentials": names}
    if oauth:
        body["auth"] = {"type": "oauth"}
    stored = await session.client.create_mcp_server(await find_agent(session, agent), body)
    _print_server(session, stored)
    return exits.DONE


@click.command("list")
@AGENT
@api_command
async def list_(session: ApiSession, agent: str | None) -> None:
    """List the MCP servers of an agent."""
    chosen = await find_agent(session, agent)
    servers = [stored async for stored in session.client.iterate_mcp_servers(chosen, limit=PAGE_MAX)]
    session.screen.print_json(servers)
    session.screen.print_table([_build_row(stored) for stored in servers], *COLUMNS, empty="The agent has no MCP servers.")


@click.command()
@click.argument("name")
@AGENT
@api_command
async def show(session: ApiSession, name: str, agent: str | None) -> None:
    """Show the MCP server NAME, and its tools."""
    chosen, stored = await find_server(session, agent, name)
    tools = await _list_tools(session, chosen, stored)
    session.screen.print_json({**stored, "data": tools})
    session.screen.print_fields({**_build_row(stored), "headers": stored["headers"], "detail": stored["detail"]})
    if stored["instructions"]:
        session.screen.print_line(f"It says of itself, to people alone: {show_text(stored['instructions'])}", "dim")
    session.screen.print_table([_build_tool_row(tool) for tool in tools], *TOOL_COLUMNS, empty="It lists no tools.")


@click.command()
@click.argument("name")
@click.argument("tools", nargs=-1)
@click.option("--all", "takes_all", is_flag=True, help="Accept all that are shown, without asking for each.")
@click.option(
    "--digest", "digests", multiple=True, metavar="TOOL=DIGEST", help="Accept a tool that was read elsewhere; repeat."
)
@AGENT
@api_command
async def accept(session: ApiSession, /, name: str, tools: tuple[str, ...], takes_all: bool, **options: Any) -> int:
    """Show the tools of the MCP server NAME that are new, changed or disabled, and accept those that you agree to.

    Only TOOLS, where any are named. Of a changed one you see what it was and is, field by field. What you accept is what you
    were shown: where the server lists something else by now, nothing is accepted.
    """
    chosen, stored = await find_server(session, options["agent"], name)
    accepted = _read_pairs(options["digests"])
    if not accepted:
        listed = await _list_tools(session, chosen, stored)
        _check_named(tools, listed, name)
        waiting = [tool for tool in listed if _may_accept(tool, tools)]
        if not waiting:
            is_disabled = any(tool["state"] == PinState.DISABLED for tool in listed)
            hint = f" Those that are disabled are accepted by name: ferryman mcp accept {name} TOOL." if is_disabled else ""
            session.screen.print_result({"accepted": []}, f"There is nothing to accept.{hint}")
            return exits.DONE
        if session.screen.as_json or not (takes_all or sys.stdin.isatty()):
            read = f"read `ferryman mcp show {name} --json`"
            raise click.UsageError(f"nobody can be asked here: {read}, and name --digest TOOL=DIGEST, or --all")
        for tool in waiting:
            _print_tool(session, tool)
            if takes_all or click.confirm(f"Accept {tool['name']}?", default=False, err=True):
                accepted[tool["config"]["tool_name"]] = str(tool["digest"])
    if not accepted:
        session.screen.print_line("Nothing is accepted.")
        return exits.DONE
    after = await session.client.accept_mcp_tools(chosen, str(stored["server_id"]), accepted)
    session.screen.print_result(after, f"Accepted: {', '.join(map(show_text, accepted))}.")
    return exits.DONE


@click.command()
@click.argument("name")
@click.argument("tools", nargs=-1)
@AGENT
@api_command
async def disable(session: ApiSession, name: str, tools: tuple[str, ...], agent: str | None) -> None:
    """Stop offering the MCP server NAME, or only TOOLS of it: none of them is called from the next execution on."""
    await _change(session, agent, name, {"disable": list(tools)} if tools else {"enabled": False})


@click.command()
@click.argument("name")
@AGENT
@api_command
async def enable(session: ApiSession, name: str, agent: str | None) -> None:
    """Offer the tools of the MCP server NAME again. A tool that was disabled is enabled by `ferryman mcp accept`."""
    await _change(session, agent, name, {"enabled": True})


@click.command()
@click.argument("name")
@click.option("--url", help="Another endpoint: nothing of the server is accepted any more.")
@click.option("--header", "headers", multiple=True, metavar="HEADER", help="A header to be sent from now on; repeat for more.")
@AGENT
@api_command
async def update(session: ApiSession, /, name: str, url: str | None, headers: tuple[str, ...], agent: str | None) -> None:
    """Change where the MCP server NAME is, or all headers that it is sent: values are asked for, or read as by `add`."""
    change: dict[str, Any] = {} if url is None else {"url": url}
    if headers:
        change["headers"] = {header: _read_value(header) for header in headers}
    if not change:
        raise click.UsageError("name what changes: --url or --header")
    await _change(session, agent, name, change)


@click.command()
@click.argument("name")
@AGENT
@api_command
async def refresh(session: ApiSession, name: str, agent: str | None) -> None:
    """Have the tools of the MCP server NAME listed again."""
    chosen, stored = await find_server(session, agent, name)
    _print_server(session, await session.client.refresh_mcp_server(chosen, str(stored["server_id"])))


@click.command()
@click.argument("name")
@AGENT
@api_command
async def remove(session: ApiSession, name: str, agent: str | None) -> None:
    """Remove the MCP server NAME, with its credentials."""
    chosen, stored = await find_server(session, agent, name)
    await session.client.delete_mcp_server(chosen, str(stored["server_id"]))
    session.screen.print_result({"name": name, "removed": True}, f"{name} is removed.")


SERVER_COMMANDS = (add, list_, show, accept, enable, disable, update, refresh, remove)
"""What `ferryman mcp` has of this file."""


async def find_agent(session: ApiSession, agent: str | None) -> str:
    """Return the id of the agent that was named, or of the default one."""
    if agent is not None:
        return agent
    async for stored in session.client.iterate_agents(limit=PAGE_MAX):
        if stored["is_default"]:
            return str(stored["agent_id"])
    raise UnknownServerError("the workspace has no default agent: name one with --agent")


async def find_server(session: ApiSession, agent: str | None, name: str) -> tuple[str, Mapping[str, Any]]:
    """Return the agent's id, and its server of this name or id."""
    chosen = await find_agent(session, agent)
    names = []
    async for stored in session.client.iterate_mcp_servers(chosen, limit=PAGE_MAX):
        if name in (stored["name"], stored["server_id"]):
            return chosen, stored
        names.append(stored["name"])
    raise UnknownServerError(f"the agent has no MCP server {name!r}; it has: {', '.join(names) or 'none'}")


async def _list_tools(session: ApiSession, agent: str, stored: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [tool async for tool in session.client.iterate_mcp_tools(agent, str(stored["server_id"]), limit=PAGE_MAX)]


async def _change(session: ApiSession, agent: str | None, name: str, change: Mapping[str, Any]) -> None:
    chosen, stored = await find_server(session, agent, name)
    _print_server(session, await session.client.change_mcp_server(chosen, str(stored["server_id"]), change))


def _check_named(named: Sequence[str], listed: Sequence[Mapping[str, Any]], server: str) -> None:
    """Raise `UnknownToolError` for a tool that the server does not list, under its name or the one for models."""
    known = {name for tool in listed for name in (tool["name"], tool["config"]["tool_name"])}
    unknown = [name for name in named if name not in known]
    if unknown:
        raise UnknownToolError(f"{server} lists no tool {unknown[0]!r}; read its tools: ferryman mcp show {server}")


def _may_accept(tool: Mapping[str, Any], named: Sequence[str]) -> bool:
    is_named = {tool["name"], tool["config"]["tool_name"]}.intersection(named)
    # what a person disabled is asked about where that person names it
    return bool(is_named or not named) and tool["state"] in (*WAITING, *((PinState.DISABLED,) if named else ()))


def _build_row(stored: Mapping[str, Any]) -> dict[str, Any]:
    tools = stored["tools"]
    waiting = sum(tools.get(state, 0) for state in WAITING)
    counts = {"accepted": tools.get(PinState.ACCEPTED, 0), "waiting": waiting, "refused": tools.get(PinState.REFUSED, 0)}
    return {**{name: stored[name] for name in ("name", "url", "auth", "state", "enabled", "verified_at")}, **counts}


def _build_tool_row(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "tool": show_text(tool["config"]["tool_name"]),
        "state": tool["state"],
        "tokens": tool["tokens"],
        "description": shorten(show_text(tool["description"][:DESCRIPTION_CHARACTERS]), 70),
        "reason": tool["reason"] or "",
    }


def _print_tool(session: ApiSession, tool: Mapping[str, Any]) -> None:
    """Print a tool as its server describes it, with what has changed since it was accepted."""
    screen = session.screen
    screen.print_line()
    screen.print_line(f"{show_text(tool['config']['tool_name'])}  ({tool['state']}, {tool['tokens']} tokens)", "bold")
    if tool["difference"]:
        for change in tool["difference"]:
            screen.print_line(f"  {change['field']}")
            screen.print_line(f"    - {'(absent)' if change['before'] is None else change['before']}", "red")
            screen.print_line(f"    + {'(absent)' if change['after'] is None else change['after']}", "green")
    else:
        screen.print_line(f"  {show_text(tool['description']) or '(no description)'}")
        for line in list_argument_lines(tool["input_schema"]):
            screen.print_line(f"  {line}", "dim")
        if tool["annotations"]:
            hints = show_text(json.dumps(tool["annotations"], ensure_ascii=False))
            screen.print_line(f"  hints of the server, which decide nothing: {hints}", "dim")
    screen.print_line(f"  digest {tool['digest']}", "dim")


def _print_server(session: ApiSession, stored: Mapping[str, Any]) -> None:
    """Print how a server is, how many tools are in which state, and what to do next."""
    name, tools = stored["name"], stored["tools"]
    waiting = sum(tools[state] for state in WAITING)
    counts = [f"{tools[state]} {word}" for state, word in COUNTED.items() if tools[state]]
    sentences = [f"{name} {STATES[ServerState(stored['state'])]}", *([f"Tools: {', '.join(counts)}"] if counts else [])]
    if not stored["enabled"]:
        sentences.append(f"It is disabled, and no tool of it is offered. Enable it: ferryman mcp enable {name}")
    if stored["detail"]:
        sentences.append(stored["detail"][0].upper() + stored["detail"][1:].removesuffix("."))
    if waiting:
        sentences.append(f"Read and accept them: ferryman mcp accept {name}")
    session.screen.print_result(stored, " ".join(f"{sentence}." for sentence in sentences))


def _read_pairs(pairs: Sequence[str]) -> dict[str, str]:
    """Return NAME=VALUE options by name."""
    read = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not (name and separator and value):
            raise click.UsageError(f"{pair!r} must be NAME=VALUE")
        read[name] = value
    return read


def _read_value(what: str) -> str:
    if sys.stdin.isatty():
        value: str = click.prompt(what, hide_input=True, err=True)
        return value
    return sys.stdin.readline(VALUE_CHARACTERS_MAX).removesuffix("\n").removesuffix("\r")

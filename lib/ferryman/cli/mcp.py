"""`ferryman mcp`: connect clients of the Model Context Protocol, and link identities whose access tokens they use."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator

import click

from ferryman.cli import exits, service
from ferryman.cli.commands import ApiSession, api_command, workspace_option
from ferryman.cli.mcp_config import CLIENTS, HTTP, STDIO, describe_place, write_config
from ferryman.client import PAGE_MAX
from ferryman.client.mcp_bridge import LINE_BYTES_MAX, McpBridge
from ferryman.settings import MisconfiguredError

AGENT = click.option("--agent", metavar="ID", help="The agent whose tools are served. Default: the workspace's default one.")
CHUNK_BYTES = 65_536


@click.group(no_args_is_help=True)
def mcp() -> None:
    """Connect clients of the Model Context Protocol to the tools of an agent.

    \b
      ferryman mcp config claude         what to paste, for a client that starts a command
      ferryman mcp config cursor --http  the same, for one that speaks HTTP
      ferryman mcp serve                 the command that such a client starts
      ferryman mcp link < token          let an identity of the authorization server act for you at /mcp

    No client can approve a call, whatever its key: a person does, at the page that the client is given a link to.
    """


@mcp.command()
@AGENT
@workspace_option
def serve(agent: str | None, workspace: str | None) -> None:
    """Serve the protocol on standard input and output for a client, and with the service over HTTP.

    The service and the key are those of FERRYMAN_URL and FERRYMAN_KEY, or else of the local stack. Nothing but messages of the
    protocol is written to standard output.
    """
    try:
        known = service.find_service()
        asyncio.run(_bridge(known, agent, workspace))
    except (service.UnknownServiceError, MisconfiguredError) as error:
        click.echo(f"ferryman mcp serve: {error}", err=True)
        sys.exit(exits.FAILED)
    except KeyboardInterrupt:
        sys.exit(exits.INTERRUPTED)


@mcp.command()
@click.argument("client", type=click.Choice(CLIENTS))
@AGENT
@click.option("--http", "transport", flag_value=HTTP, help="For a client that speaks HTTP itself.")
@click.option(
    "--stdio", "transport", flag_value=STDIO, default=STDIO, help="For one that starts `ferryman mcp serve`; the default."
)
@click.option(
    "--show-key", is_flag=True, help="Write the API key into it. Else it names a variable, an input or the local stack."
)
def config(client: str, agent: str | None, transport: str, show_key: bool) -> None:
    """Print what to paste into the configuration of CLIENT: claude, cursor or vscode.

    Where it goes is said on standard error, so that standard output is the JSON alone.
    """
    try:
        known = service.find_service()
    except service.UnknownServiceError as error:
        click.echo(f"ferryman mcp config: {error}", err=True)
        sys.exit(exits.FAILED)
    local = service.find_folder() if service.is_local() else None
    click.echo(write_config(client, transport, url=known.url, key=known.key if show_key else None, agent=agent, local=local))
    click.echo(describe_place(client, transport, is_key_shown=show_key, is_local=local is not None), err=True)


@mcp.command()
@api_command
async def link(session: ApiSession) -> None:
    """Link the identity that an access token is of with you; the token is read from standard input, and stored nowhere.

    \b
        ferryman mcp link < token.txt

    Access tokens of that identity, which the authorization server issues for this service, then act for you at /mcp.
    """
    if sys.stdin.isatty():
        token = str(click.prompt("Access token", hide_input=True, err=True))
    else:
        token = sys.stdin.read(LINE_BYTES_MAX)
    linked = await session.client.link_identity(token.strip())
    session.screen.print_result(
        linked, f"{linked['identity_id']}: {linked['subject']} of {linked['issuer']} acts for you at /mcp."
    )


@mcp.command()
@api_command
async def links(session: ApiSession) -> None:
    """List the identities that are linked with you in the workspace."""
    listed = [item async for item in session.client.iterate_identities(limit=PAGE_MAX)]
    session.screen.print_json(listed)
    rows = [{**item, "scopes": " ".join(item["scopes"])} for item in listed]
    session.screen.print_table(rows, "identity_id", "issuer", "subject", "scopes", "last_used_at", empty="There are none.")


@mcp.command()
@click.argument("identity")
@api_command
async def unlink(session: ApiSession, identity: str) -> None:
    """End the link of IDENTITY, by its id: the next request with a token of it is refused."""
    await session.client.delete_identity(identity)
    session.screen.print_result({"unlinked": identity}, f"{identity} acts for nobody any longer.")


async def _bridge(known: service.Service, agent: str | None, workspace: str | None) -> None:
    out = sys.stdout.buffer

    def write(line: str) -> None:
        try:
            out.write(line.encode() + b"\n")
            out.flush()
        except BrokenPipeError:
            os.kill(os.getpid(), signal.SIGTERM)  # nobody reads any longer

    await McpBridge(known.url, known.key, write, agent=agent, workspace=workspace).run(_read_lines(sys.stdin.fileno()))


async def _read_lines(descriptor: int) -> AsyncIterator[bytes]:
    """Yield the lines of a file, of which a thread waits for the next: it may be a pipe, a terminal or a plain file.

    Of a line that is too long, its beginning is yielded, which is no message.
    """
    loop, parts = asyncio.get_running_loop(), asyncio.Queue[bytes]()

    def read() -> None:
        part = b"-"
        while part:
            try:
                part = os.read(descriptor, CHUNK_BYTES)
            except OSError:
                part = b""
            loop.call_soon_threadsafe(parts.put_nowait, part)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    line, is_over = bytearray(), False
    while part := await parts.get():
        *ends, rest = part.split(b"\n")
        for end in ends:
            yield bytes(line if is_over else line + end)
            line, is_over = bytearray(), False
        if not is_over:
            line += rest
            is_over = len(line) > LINE_BYTES_MAX
    if line:
        yield bytes(line)

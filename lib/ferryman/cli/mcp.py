"""`ferryman mcp`: connect clients of the Model Context Protocol and MCP servers, and link identities for access tokens."""

from __future__ import annotations

import asyncio
import secrets
import sys
import webbrowser

import click

from ferryman.cli import exits, service
from ferryman.cli.commands import ApiSession, api_command, workspace_option
from ferryman.cli.consent import serve_callback
from ferryman.cli.mcp_config import CLIENTS, HTTP, STDIO, describe_place, write_config
from ferryman.cli.mcp_connect import connect
from ferryman.cli.mcp_servers import SERVER_COMMANDS
from ferryman.cli.mcp_stdio import serve_stdio
from ferryman.client import PAGE_MAX
from ferryman.client.access_token import NoAccessTokenError, fetch_access_token, find_authorization_server
from ferryman.domain.credentials.authorization_response import ConsentDeclinedError
from ferryman.settings import MisconfiguredError

AGENT = click.option("--agent", metavar="ID", help="The agent whose tools are served. Default: the workspace's default one.")
CALLBACK = "/callback/mcp"
TOKEN_CHARACTERS_MAX = 100_000


@click.group(no_args_is_help=True)
def mcp() -> None:
    """Connect clients of the Model Context Protocol to the tools of an agent, and MCP servers of others to the agent.

    \b
      ferryman mcp config claude         what to paste, for a client that starts a command
      ferryman mcp config cursor --http  the same, for one that speaks HTTP
      ferryman mcp serve                 the command that such a client starts
      ferryman mcp link                  let an identity of the authorization server act for you at /mcp

    
      ferryman mcp add NAME URL          a server of others: its tools wait until you accept them
      ferryman mcp accept NAME           read them, with what has changed, and accept those you agree to

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
        asyncio.run(serve_stdio(known, agent, workspace))
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
@click.option("--client-id", metavar="ID", help="This command's client at the authorization server, for a consent.")
@click.option("--port", default=0, show_default="any free one", help="The loopback port that the browser comes back to.")
@click.option("--open", "is_opened", is_flag=True, help="Open the consent page in a browser.")
@click.option("--within", default=600, show_default=True, type=click.IntRange(1, 600), help="Seconds to wait for the consent.")
@api_command
async def link(session: ApiSession, client_id: str | None, port: int, is_opened: bool, within: int) -> int | None:
    """Link an identity of the authorization server with you: access tokens of it then act for you at /mcp, and nowhere else.

    \b
        ferryman mcp link --client-id ID   # by consent in a browser
        ferryman mcp link < token.txt      # with an access token for this service that you have

    The token is sent to the service once, to say whose it is, and stored nowhere.
    """
    if client_id is None:
        token = _read_token()
    else:
        try:
            token = await obtain_token(session.client.url, client_id, port=port, is_opened=is_opened, within_s=within)
        except (NoAccessTokenError, ConsentDeclinedError) as refused:
            session.screen.print_error(f"{refused}; nothing was linked")
            return exits.REFUSED
        except TimeoutError:
            session.screen.print_error(f"no consent came within {within} s; nothing was linked")
            return exits.FAILED
        except OSError:
            session.screen.print_error(f"port {port} of 127.0.0.1 is taken; choose another with --port, or leave it out")
            return exits.FAILED
    linked = await session.client.link_identity(token)
    text = f"{linked['identity_id']}: {linked['subject']} of {linked['issuer']} acts for you at /mcp."
    session.screen.print_result(linked, text)
    return None


async def obtain_token(url: str, client_id: str, *, port: int, is_opened: bool, within_s: float) -> str:
    """Return an access token for the service at `url` by a person's consent, with PKCE.

    Raise `NoAccessTokenError`, `ConsentDeclinedError`, and TimeoutError where none comes within `within_s` seconds.
    """
    server = await find_authorization_server(url)
    verifier, state = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    async with serve_callback(port, CALLBACK) as place:
        place.state = state
        page = server.build_authorize_url(client_id=client_id, redirect_uri=place.uri, state=state, verifier=verifier)
        click.echo(f"Open this page and consent:\n\n{page}\n", err=True)
        if is_opened:
            webbrowser.open(page)
        response = await place.response(within_s)
        server.check_issuer(response.iss)
        return await fetch_access_token(
            server, client_id=client_id, redirect_uri=place.uri, code=response.code, verifier=verifier
        )


def _read_token() -> str:
    if sys.stdin.isatty():
        return str(click.prompt("Access token", hide_input=True, err=True)).strip()
    return sys.stdin.read(TOKEN_CHARACTERS_MAX).strip()


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


for server_command in (*SERVER_COMMANDS, connect):
    mcp.add_command(server_command)

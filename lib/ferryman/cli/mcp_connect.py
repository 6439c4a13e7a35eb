"""`ferryman mcp connect`: a person consents to an MCP server at its authorization server, and its token is sealed."""

from __future__ import annotations

from typing import Any

import click

from ferryman.cli import exits
from ferryman.cli.commands import ApiSession, api_command, prints_lines
from ferryman.cli.connecting import ConsentPlace, UnconnectedError, consent_options, obtain_consent, read_client_secret
from ferryman.cli.mcp_servers import AGENT, find_server
from ferryman.domain.credentials.redirect_uris import HOST, PASTED_PORT
from ferryman.domain.remote_servers.client_document import CALLBACK_PATH


@click.command()
@click.argument("name")
@click.option("--scope", "scopes", multiple=True, help="What to ask for, once or more. Default: what the server names.")
@click.option("--client-id", metavar="ID", help="A client that you registered. Default: ours, or one that is registered now.")
@click.option("--client-secret", "has_secret", is_flag=True, help="Your client has a secret: asked for, or read from stdin.")
@consent_options
@AGENT
@api_command
@prints_lines
async def connect(session: ApiSession, /, name: str, agent: str | None, port: int, within: int, **options: Any) -> int | None:
    """Connect the MCP server NAME of an agent: consent at its authorization server, and have its token sealed.

    \b
        ferryman mcp connect tracker --open

    The token goes to the server's URL and nowhere else. Connect again where the server asks for more scopes: those of before
    are asked for beside them.
    """
    chosen, stored = await find_server(session, agent, name)
    body: dict[str, Any] = {}
    if options["scopes"]:
        body["scopes"] = list(options["scopes"])
    if options["client_id"] is not None:
        body["client_id"] = options["client_id"]
    if options["has_secret"]:
        body["client_secret"] = read_client_secret()
    server = str(stored["server_id"])
    place = ConsentPlace(
        port=port,
        path=CALLBACK_PATH,
        pasted_uri=f"http://{HOST}:{port or PASTED_PORT}{CALLBACK_PATH}",
        is_pasted=options["is_pasted"],
        is_opened=options["is_opened"],
        within=within,
    )
    try:
        begun, response = await obtain_consent(
            session,
            lambda uri: session.client.begin_server_connection(chosen, server, {**body, "redirect_uri": uri}),
            place,
        )
    except UnconnectedError as unconnected:
        session.screen.print_error(str(unconnected))
        return unconnected.code
    connected = await session.client.finish_server_connection(chosen, server, begun["state"], response.code, response.iss)
    text = f"{connected['name']} is connected by {connected['issuer']}; its token is sent to {stored['url']} and nowhere else."
    session.screen.print_result(connected, text)
    return exits.DONE

"""`ferryman console` and `ferryman sessions`: the console in a browser, and who is signed in to it."""

from __future__ import annotations

import webbrowser

import click

from ferryman.cli import exits
from ferryman.cli.commands import ApiSession, api_command
from ferryman.client import PAGE_MAX

COLUMNS = ("session_id", "person_id", "key_id", "workspace_id", "browser", "created_at", "expires_at")


@click.command()
@click.option("--no-browser", is_flag=True, help="Print the link alone, to be opened in any browser.")
@api_command
async def console(session: ApiSession, no_browser: bool) -> int:
    """Open the console in a browser, signed in with your API key.

    The link is good once, and for ten minutes. Who opens it has the rights of your API key in the console for twelve hours:
    give it to nobody. `ferryman sessions revoke` ends a session before.

    A browser is started with the link in its command line, which other users of this machine can see until the link is used:
    where there are any, `--no-browser` prints it to you alone.
    """
    link = await session.client.create_sign_in_link()
    if link["url"] is None:
        session.screen.print_error("the link was made, and its answer was lost: run the same command again")
        return exits.FAILED
    session.screen.print_result(link, link["url"])
    if not no_browser:
        webbrowser.open(link["url"])
    return exits.DONE


@click.group(no_args_is_help=True)
def sessions() -> None:
    """List and end sessions of the console."""


@sessions.command("list")
@click.option("--everybody", is_flag=True, help="Those of all members, which admins see.")
@api_command
async def list_(session: ApiSession, everybody: bool) -> None:
    """List your sessions of the console: each a browser that is signed in."""
    rows = [item async for item in session.client.iterate_sessions(everybody=everybody, limit=PAGE_MAX)]
    session.screen.print_list(rows, *COLUMNS)


@sessions.command()
@click.argument("session_id", metavar="SESSION")
@api_command
async def revoke(session: ApiSession, session_id: str) -> None:
    """End SESSION: its browser is signed out with its next request."""
    await session.client.delete_session(session_id)
    session.screen.print_result({"revoked": session_id}, f"{session_id} is signed out.")

"""`ferryman key`: API keys of people, for a workspace each."""

from __future__ import annotations

import click

from ferryman.cli import exits
from ferryman.cli.commands import ApiSession, api_command
from ferryman.cli.members import LOST
from ferryman.client import PAGE_MAX
from ferryman.domain.workspaces.member import Right

COLUMNS = ("key_id", "name", "person_id", "scopes", "tools", "expires_at", "last_used_at")
SCOPES = click.Choice([right.value for right in Right])


@click.group(no_args_is_help=True)
def key() -> None:
    """Create, list and revoke API keys: each for one workspace, with at most the rights and the time of the one that asks."""


@key.command()
@click.argument("name")
@click.option("--scope", "scopes", type=SCOPES, multiple=True, help="What it may do, once or more. Default: what you may do.")
@click.option(
    "--tool", "tools", multiple=True, metavar="NAME", help="A tool at /mcp, or category:search, once or more: no other."
)
@click.option("--days", type=click.IntRange(1), help="After how many days it ends. Default: never, or with yours.")
@api_command
async def create(session: ApiSession, name: str, scopes: tuple[str, ...], tools: tuple[str, ...], days: int | None) -> int:
    """Create an API key called NAME, and print it, once: it is stored nowhere.

    \b
        ferryman key create laptop --scope read --scope run --days 90
        ferryman key create claude --tool category:search --tool calculator

    One with --tool is for clients of /mcp: it lists and calls these tools alone, and elsewhere it only reads.
    """
    created = await session.client.create_key(name, scopes=scopes or None, tools=tools or None, expires_in_days=days)
    if created["key"] is None:
        session.screen.print_error(LOST.format(what="the key", undo=f"ferryman key revoke {created['key_id']}"))
        return exits.FAILED
    session.screen.print_result(created, created["key"])
    return exits.DONE


@key.command("list")
@click.option("--everybody", is_flag=True, help="Those of all members, which admins see.")
@api_command
async def list_(session: ApiSession, everybody: bool) -> None:
    """List your API keys for the workspace, with their last use to the minute."""
    keys = [item async for item in session.client.iterate_keys(everybody=everybody, limit=PAGE_MAX)]
    session.screen.print_json(keys)
    rows = [{**item, "scopes": " ".join(item["scopes"]), "tools": " ".join(item["tools"] or ())} for item in keys]
    session.screen.print_table(rows, *COLUMNS, empty="There are none.")


@key.command()
@click.argument("key_id", metavar="KEY")
@api_command
async def revoke(session: ApiSession, key_id: str) -> None:
    """Revoke the API key whose id is KEY: its next request is refused, and event streams of it end within a second."""
    await session.client.delete_key(key_id)
    session.screen.print_result({"revoked": key_id}, f"{key_id} lets nobody in any longer.")

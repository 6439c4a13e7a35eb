"""`ferryman approvals standing`: what is approved beforehand, for a time and a number of calls."""

from __future__ import annotations

from typing import IO, Any

import click

from ferryman.cli.commands import ApiSession, api_command
from ferryman.cli.fields import FILE
from ferryman.cli.files import read_object
from ferryman.client import PAGE_MAX
from ferryman.domain.approvals.standing import DAYS_MAX, USES_LIMIT

COLUMNS = (
    "standing_approval_id",
    "tool",
    "task_id",
    "hosts",
    "methods",
    "arguments",
    "used",
    "uses",
    "expires_at",
    "by",
    "revoked",
)


@click.group(no_args_is_help=True)
def standing() -> None:
    """Approve calls beforehand: they are sent without asking, while the time and the uses last."""


@standing.command()
@click.argument("tool")
@click.option("--uses", type=click.IntRange(1, USES_LIMIT), required=True, help="For how many calls.")
@click.option("--days", type=click.IntRange(1, DAYS_MAX), required=True, help="For how many days.")
@click.option("--task", metavar="ID", help="Of this task alone.")
@click.option("--host", "hosts", multiple=True, help="Only to this host, as api.example.com or *.example.com; repeatable.")
@click.option("--method", "methods", multiple=True, help="Only with this HTTP method; repeatable.")
@click.option("--arguments", type=FILE, metavar="FILE", help="Arguments that have to be equal, as JSON; `-`: stdin.")
@api_command
async def add(session: ApiSession, /, tool: str, days: int, arguments: IO[str] | None, **options: Any) -> None:
    """Approve calls of TOOL beforehand.

    \b
        ferryman approvals standing add http_post --host api.example.com --uses 20 --days 30
    """
    equal = {} if arguments is None else read_object(arguments, "--arguments")
    added = await session.client.create_standing_approval(tool, expires_in_days=days, arguments=equal, **options)
    session.screen.print_result(added, added["standing_approval_id"])


@standing.command("list")
@api_command
async def list_(session: ApiSession) -> None:
    """List what is approved beforehand, and how often it was used."""
    listed = [item async for item in session.client.iterate_standing_approvals(limit=PAGE_MAX)]
    session.screen.print_list(listed, *COLUMNS, empty="Nothing is approved beforehand.")


@standing.command()
@click.argument("name", metavar="ID")
@api_command
async def revoke(session: ApiSession, name: str) -> None:
    """Revoke ID: no further call is sent under it."""
    await session.client.delete_standing_approval(name)
    session.screen.print_result({"revoked": name}, f"{name} is revoked.")

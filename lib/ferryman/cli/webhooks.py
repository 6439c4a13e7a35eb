"""`ferryman webhooks`: what tasks of the local stack posted to well-known webhook hosts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from ferryman.cli import service
from ferryman.cli.commands import ApiSession, local_api_command
from ferryman.cli.screen import shorten
from ferryman.stack import webhooks as catcher
from ferryman.stack.admin import Admin


@click.command()
@click.option("--host", type=click.Choice(catcher.HOSTS), metavar="HOST", help="Only what came to this host.")
@local_api_command
async def webhooks(session: ApiSession, host: str | None) -> None:
    """Show what arrived at webhooks of well-known hosts on the local stack: nothing that is sent there leaves this machine.

    URLs at hooks.slack.com, discord.com and others, which are listed where nothing arrived yet, can be registered with a task
    as they would be on a deployment. `ferryman up --host` leads a name to a server of yours instead.
    """
    await session.client.get_me()  # says at once that nobody answers
    async with Admin.from_note(service.read_note()) as admin:
        arrived = [_describe(received) for received in await catcher.list_caught(admin, host)]
    session.screen.print_json(arrived)
    if not arrived:
        session.screen.print_line(f"Nothing has arrived yet. Caught are: {', '.join(catcher.HOSTS)}.", "dim")
    for request in arrived:
        session.screen.print_line(f"{request['at']}  {request['method']} {request['url']}", "bold")
        session.screen.print_line(f"  {shorten(request['body'], max(80, 4 * session.screen.width))}")


def _describe(received: dict[str, Any]) -> dict[str, Any]:
    query = f"?{received['query']}" if received["query"] else ""
    return {
        "at": datetime.fromtimestamp(received["time"], UTC).isoformat(timespec="seconds"),
        "method": received["method"],
        "url": f"https://{received['host']}{received['path']}{query}",
        "headers": received["headers"],
        "body": received.get("body", received.get("body_base64", "")),
    }

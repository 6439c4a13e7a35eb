"""`ferryman halt` and `ferryman resume`: the kill switches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ferryman.cli import operator_commands
from ferryman.cli.commands import ApiSession, api_command

all_owners_option: Callable[..., Callable[..., None]] = click.option(
    "--all-owners",
    is_flag=True,
    help="The operator's switch over all owners of the local stack, or with --project of a deployment.",
)


@click.command()
@all_owners_option
@operator_commands.deployment_options
@api_command
async def halt(session: ApiSession, /, **target: Any) -> None:
    """Stop all your executions within two seconds, calls under way included, and start none until `ferryman resume`.

    A call that may have had an effect when it was broken off is recorded as in doubt.
    """
    await _switch(session, on=True, **target)


@click.command()
@all_owners_option
@operator_commands.deployment_options
@api_command
async def resume(session: ApiSession, /, **target: Any) -> None:
    """Let executions start again; those that were stopped have ended."""
    await _switch(session, on=False, **target)


async def _switch(session: ApiSession, *, on: bool, all_owners: bool, project: str | None, region: str, root: Path) -> None:
    if all_owners or project:
        async with operator_commands.open_operator(session.screen, project, region, root) as operator:
            await operator.halt(on=on)
        reason = (await session.client.get_me())["halted"]
    else:
        reason = (await session.client.set_halt(on=on))["halted"]
    session.screen.print_result({"halted": reason}, f"everything is {reason}" if reason else "executions may start")

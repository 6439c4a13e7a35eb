"""`ferryman halt` and `ferryman resume`: the kill switches."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import click

from ferryman.cli.asking import Asking, asking
from ferryman.cli.owners import env_here
from ferryman.wiring.local import owners

house_option: Callable[..., Callable[..., None]] = click.option(
    "--house", is_flag=True, help="The operator's switch over all owners of the local stack."
)


@click.command()
@house_option
@asking
async def halt(asked: Asking, house: bool) -> None:
    """Stop all your executions within two seconds, calls under way included, and start none until `ferryman resume`.

    A call that may have had an effect when it was broken off is recorded as in doubt.
    """
    await _switch(asked, house=house, on=True)


@click.command()
@house_option
@asking
async def resume(asked: Asking, house: bool) -> None:
    """Let executions start again; those that were stopped have ended."""
    await _switch(asked, house=house, on=False)


async def _switch(asked: Asking, *, house: bool, on: bool) -> None:
    if house:
        async with owners.opened(env_here()) as stored:
            await stored.halts.put(None, on=on, now=datetime.now(UTC))
        standing = (await asked.client.me())["halted"]
    else:
        standing = (await asked.client.halt(on=on))["halted"]
    asked.screen.record({"halted": standing})
    asked.screen.say(f"everything is {standing}" if standing else "executions may start")

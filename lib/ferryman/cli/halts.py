"""`ferryman halt` and `ferryman resume`: the kill switches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from ferryman.cli import operating, service
from ferryman.cli.asking import Asking, asking

house_option: Callable[..., Callable[..., None]] = click.option(
    "--house", is_flag=True, help="The operator's switch over all owners of the local stack, or with --project of a deployment."
)


@click.command()
@house_option
@operating.placed
@asking
async def halt(asked: Asking, house: bool, project: str | None, region: str, root: Path) -> None:
    """Stop all your executions within two seconds, calls under way included, and start none until `ferryman resume`.

    A call that may have had an effect when it was broken off is recorded as in doubt.
    """
    await _switch(asked, (project, region, root) if house or project else None, on=True)


@click.command()
@house_option
@operating.placed
@asking
async def resume(asked: Asking, house: bool, project: str | None, region: str, root: Path) -> None:
    """Let executions start again; those that were stopped have ended."""
    await _switch(asked, (project, region, root) if house or project else None, on=False)


async def _switch(asked: Asking, house: tuple[str | None, str, Path] | None, *, on: bool) -> None:
    if house:
        try:
            async with operating.opened(asked.screen, *house) as operator:
                await operator.halt(on=on)
        except operating.FAULTS as fault:
            raise service.Unknown(str(fault)) from fault
        standing = (await asked.client.me())["halted"]
    else:
        standing = (await asked.client.halt(on=on))["halted"]
    asked.screen.record({"halted": standing})
    asked.screen.say(f"everything is {standing}" if standing else "executions may start")

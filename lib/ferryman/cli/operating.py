"""Operating: what the commands share that run a house, be it the local stack or a deployment."""

from __future__ import annotations

import asyncio
import functools
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

import click

from ferryman.cli import exits, service
from ferryman.cli.screen import Screen
from ferryman.client import Client, Unreachable
from ferryman.ports import Unavailable
from ferryman.vault.rotate import Idle
from ferryman.wiring.deploying import commands
from ferryman.wiring.deploying import operator as deployed
from ferryman.wiring.deploying.course import Course
from ferryman.wiring.local import leftovers
from ferryman.wiring.local import operator as local
from ferryman.wiring.local.admin import Refused
from ferryman.wiring.operator import Operator

P = ParamSpec("P")
FAULTS = (service.Unknown, Unreachable, Unavailable, Refused, Idle, commands.Missing, commands.Failed)


def placed(command: Callable[P, None]) -> Callable[P, None]:
    """Options that say which house is meant."""
    for option in (
        click.option(
            "--root",
            type=click.Path(path_type=Path, file_okay=False, resolve_path=True),
            default=".",
            help="Its checkout. [default: here]",
        ),
        click.option("--region", default="us-central1", show_default=True, help="The region of the deployment."),
        click.option("--project", help="The Google Cloud project of a deployment. [default: the local stack]"),
    ):
        command = option(command)
    return command


def operating(work: Callable[Concatenate[Operator, Screen, P], Coroutine[Any, Any, int | None]]) -> Callable[P, None]:
    """Make a command of `work`, which is given the operator of the house and answers its exit code, or None for 0."""

    @placed
    @click.option("--json", "as_json", is_flag=True, help="JSON for programs, a document a line.")
    @functools.wraps(work)
    def command(*args: P.args, **kwargs: P.kwargs) -> None:
        screen = Screen(as_json=bool(kwargs.pop("as_json")))
        place: Any = {name: kwargs.pop(name) for name in ("project", "region", "root")}

        async def run() -> int:
            async with opened(screen, **place) as house:
                return await work(house, screen, *args, **kwargs) or exits.DONE

        try:
            sys.exit(asyncio.run(run()))
        except FAULTS as error:
            screen.wrong(str(error))
            sys.exit(exits.FAILED)
        except KeyboardInterrupt:
            sys.exit(exits.INTERRUPTED)

    return command


@asynccontextmanager
async def opened(screen: Screen, project: str | None, region: str, root: Path) -> AsyncIterator[Operator]:
    """The operator of the deployment in `project`, or of the local stack. Raises one of `FAULTS`."""
    if project:
        found = commands.found(project, region, root / "infra")
        course = Course(commands=found, root=root, tell=lambda text: screen.say(text, "dim"))
        async with deployed.opened(course, service.find().key) as house:
            yield house
        return
    known, note = service.of_stack(service.folder()), leftovers.note(service.folder())
    if note is None:
        raise service.Unknown(f"no stack runs on {service.folder()} any more")
    async with Client(known.url, known.key) as client:
        await client.me()  # a stack that was killed left its note
    async with local.opened(note, known.key) as house:
        yield house

"""Operator commands: what the commands share that operate the local stack or a deployment."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec

import click

from ferryman.cli import service
from ferryman.cli.commands import FAILURES, screen_command
from ferryman.cli.screen import Screen
from ferryman.client import AsyncClient
from ferryman.composition.operator import Operator
from ferryman.operations.deploy import operator as deployed
from ferryman.operations.deploy.deployment import Deployment
from ferryman.stack import operator as local
from ferryman.vault.rotate import NothingToRotateError

P = ParamSpec("P")


def deployment_options(command: Callable[P, None]) -> Callable[P, None]:
    """Add the options that say which deployment is meant."""
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


def operator_command(work: Callable[Concatenate[Operator, Screen, P], Coroutine[Any, Any, int | None]]) -> Callable[P, None]:
    """Make a command of `work`, which is given the operator of the deployment and answers its exit code, or None for 0."""

    @functools.wraps(work)
    async def run(screen: Screen, /, *args: P.args, **kwargs: P.kwargs) -> int | None:
        place: Any = {name: kwargs.pop(name) for name in ("project", "region", "root")}
        async with open_operator(screen, **place) as deps:
            return await work(deps, screen, *args, **kwargs)

    return deployment_options(screen_command(run, failures=(*FAILURES, NothingToRotateError)))


@asynccontextmanager
async def open_operator(screen: Screen, project: str | None, region: str, root: Path) -> AsyncIterator[Operator]:
    """Yield the operator of the deployment in `project`, or of the local stack. Raise one of `FAILURES`."""
    if project:
        deployment = Deployment.find(project, region, root, tell=screen.print_step)
        async with deployed.open_operator(deployment, service.find_service().key) as deps:
            yield deps
        return
    known, note = service.find_local_service(service.find_folder()), service.read_note()
    async with AsyncClient(known.url, known.key, workspace="") as client:
        await client.get_me()  # a stack that was killed left its note
    async with local.open_operator(note, known.key) as deps:
        yield deps

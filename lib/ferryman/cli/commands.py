"""API commands: what every command that talks to the API shares; `--json`, the service, and errors that become exit codes."""

from __future__ import annotations

import asyncio
import functools
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec

import click

from ferryman.cli import exits, service
from ferryman.cli.screen import Screen
from ferryman.client import ApiRefusedError, ApiUnreachableError, Client
from ferryman.domain.problem import InvalidInputError
from ferryman.settings import MisconfiguredError

P = ParamSpec("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSession:
    """The API's client, and the screen that a command writes to."""

    client: Client
    screen: Screen


def api_command(work: Callable[Concatenate[ApiSession, P], Coroutine[Any, Any, int | None]]) -> Callable[P, None]:
    """Make a command of `work`, which answers its exit code, or None for 0."""
    return _asking(work, service.find_service)


def local_api_command(work: Callable[Concatenate[ApiSession, P], Coroutine[Any, Any, int | None]]) -> Callable[P, None]:
    """Make a command that asks the local stack alone, whatever FERRYMAN_URL says."""
    return _asking(work, lambda: service.find_local_service(service.find_folder()))


def offline_command(work: Callable[Concatenate[Screen, P], Coroutine[Any, Any, int | None]]) -> Callable[P, None]:
    """Make a command that runs in this process, with the screen alone."""

    async def run(screen: Screen, /, *args: P.args, **kwargs: P.kwargs) -> int:
        try:
            return await work(screen, *args, **kwargs) or exits.DONE
        except InvalidInputError as invalid:
            errors = [(problem.field, problem.message) for problem in invalid.problems]
            screen.print_error("the input is not valid", errors=errors)
            return exits.REFUSED
        except MisconfiguredError as error:
            screen.print_error(str(error))
            return exits.FAILED

    return _command(work, run)


def _asking(
    work: Callable[Concatenate[ApiSession, P], Coroutine[Any, Any, int | None]], find: Callable[[], service.Service]
) -> Callable[P, None]:
    async def run(screen: Screen, /, *args: P.args, **kwargs: P.kwargs) -> int:
        try:
            known = find()
            async with Client(known.url, known.key) as client:
                return await work(ApiSession(client=client, screen=screen), *args, **kwargs) or exits.DONE
        except (service.UnknownServiceError, ApiUnreachableError) as error:
            screen.print_error(str(error))
            return exits.FAILED
        except ApiRefusedError as refused:
            screen.print_error(refused.detail, status=refused.status, errors=refused.errors)
            return exits.choose_for_refusal(refused.status)

    return _command(work, run)


def _command(work: Callable[..., object], run: Callable[Concatenate[Screen, P], Coroutine[Any, Any, int]]) -> Callable[P, None]:
    @click.option("--json", "as_json", is_flag=True, help="JSON for programs, a document a line.")
    @functools.wraps(work)
    def command(*args: P.args, **kwargs: P.kwargs) -> None:
        screen = Screen(as_json=bool(kwargs.pop("as_json")))
        try:
            sys.exit(asyncio.run(run(screen, *args, **kwargs)))
        except KeyboardInterrupt:
            sys.exit(exits.INTERRUPTED)

    return command

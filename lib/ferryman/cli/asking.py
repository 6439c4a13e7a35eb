"""Asking: what every command that talks to the API shares; `--json`, the service, and errors that become exit codes."""

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
from ferryman.client import Client, Refused, Unreachable
from ferryman.domain.problem import Invalid
from ferryman.settings import Misconfigured

P = ParamSpec("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What a command is given: the API's client, and where it writes."""

    client: Client
    screen: Screen


def asking(work: Callable[Concatenate[Asking, P], Coroutine[Any, Any, int | None]]) -> Callable[P, None]:
    """Make a command of `work`, which answers its exit code, or None for 0."""
    return _asking(work, service.find)


def asking_here(work: Callable[Concatenate[Asking, P], Coroutine[Any, Any, int | None]]) -> Callable[P, None]:
    """The same, for what is only done beside the local stack: it is asked, whatever FERRYMAN_URL says."""
    return _asking(work, lambda: service.of_stack(service.folder()))


def asking_nobody(work: Callable[Concatenate[Screen, P], Coroutine[Any, Any, int | None]]) -> Callable[P, None]:
    """The same, for what is done in this process: it is given the screen alone."""

    async def done(screen: Screen, /, *args: P.args, **kwargs: P.kwargs) -> int:
        try:
            return await work(screen, *args, **kwargs) or exits.DONE
        except Invalid as invalid:
            told = [(each.field, each.message) for each in invalid.problems]
            screen.wrong("what was given cannot be used", errors=told)
            return exits.REFUSED
        except Misconfigured as error:
            screen.wrong(str(error))
            return exits.FAILED

    return _command(work, done)


def _asking(
    work: Callable[Concatenate[Asking, P], Coroutine[Any, Any, int | None]], find: Callable[[], service.Service]
) -> Callable[P, None]:
    async def asked(screen: Screen, /, *args: P.args, **kwargs: P.kwargs) -> int:
        try:
            known = find()
            async with Client(known.url, known.key) as client:
                return await work(Asking(client=client, screen=screen), *args, **kwargs) or exits.DONE
        except (service.Unknown, Unreachable) as error:
            screen.wrong(str(error))
            return exits.FAILED
        except Refused as refused:
            screen.wrong(refused.detail, status=refused.status, errors=refused.errors)
            return exits.of_refusal(refused.status)

    return _command(work, asked)


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

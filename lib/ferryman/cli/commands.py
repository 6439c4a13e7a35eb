"""Commands: what all of them share; `--json`, the screen, the service, and errors that become exit codes."""

from __future__ import annotations

import asyncio
import functools
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

import click

from ferryman.cli import exits, service
from ferryman.cli.screen import Screen
from ferryman.client import ApiRefusedError, ApiUnreachableError, AsyncClient
from ferryman.domain.ids import ID_ABOUT, is_id
from ferryman.domain.problem import InvalidInputError
from ferryman.operations.deploy.commands import CommandFailedError, CommandMissingError
from ferryman.ports.errors import UnavailableError
from ferryman.settings import MisconfiguredError
from ferryman.stack.admin import AdminRefusedError
from ferryman.stack.process import CloudNotStartedError

P = ParamSpec("P")
Work = TypeVar("Work", bound=Callable[..., Any])
_JSON_HELP = "json_help"
FAILURES: tuple[type[Exception], ...] = (
    *(service.UnknownServiceError, ApiUnreachableError, MisconfiguredError, UnavailableError),
    *(AdminRefusedError, CloudNotStartedError, CommandMissingError, CommandFailedError),
)
"""Errors whose text says to a person what failed."""


def _check_workspace(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    if text is not None and not is_id(text):
        raise click.BadParameter(f"must be the id of a workspace: {ID_ABOUT}")
    return text


workspace_option = click.option(
    "--workspace", metavar="ID", callback=_check_workspace, help="Act in this workspace, not in FERRYMAN_WORKSPACE_ID's."
)
"""The option of every command that asks the API."""

ONE_DOCUMENT = "JSON for programs: one document, on one line."
DOCUMENT_LINES = "JSON for programs: a document a line, as they come."


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiSession:
    """The API's client, and the screen that a command writes to."""

    client: AsyncClient
    screen: Screen


def prints_lines(work: Work) -> Work:
    """Have the help of a command say that `--json` prints several documents."""
    vars(work)[_JSON_HELP] = DOCUMENT_LINES
    return work


def screen_command(
    work: Callable[Concatenate[Screen, P], Coroutine[Any, Any, int | None]],
    *,
    failures: tuple[type[Exception], ...] = FAILURES,
) -> Callable[P, None]:
    """Make a command of `work`, which answers its exit code, or None for 0, and is given the screen alone."""

    @click.option("--json", "as_json", is_flag=True, help=vars(work).get(_JSON_HELP, ONE_DOCUMENT))
    @functools.wraps(work)
    def command(*args: P.args, **kwargs: P.kwargs) -> None:
        screen, code = Screen(as_json=bool(kwargs.pop("as_json"))), exits.FAILED
        try:
            code = asyncio.run(work(screen, *args, **kwargs)) or exits.DONE
        except KeyboardInterrupt:
            code = exits.INTERRUPTED
        except InvalidInputError as invalid:
            errors = [(problem.field, problem.message) for problem in invalid.problems]
            screen.print_error("the input is not valid; nothing was done", errors=errors)
            code = exits.REFUSED
        except ApiRefusedError as refused:
            screen.print_error(refused.detail, status=refused.status, errors=refused.errors)
            code = exits.choose_for_refusal(refused.status)
        except failures as error:
            screen.print_error(str(error))
        sys.exit(code)

    return command


def api_command(work: Callable[Concatenate[ApiSession, P], Coroutine[Any, Any, int | None]]) -> Callable[P, None]:
    """Make a command of `work`, which is given a session with the service."""
    return _session_command(work, service.find_service)


def joining_command(work: Callable[Concatenate[ApiSession, P], Coroutine[Any, Any, int | None]]) -> Callable[P, None]:
    """Make a command for somebody who may have no API key yet."""
    return _session_command(work, service.find_service_to_join)


def local_api_command(work: Callable[Concatenate[ApiSession, P], Coroutine[Any, Any, int | None]]) -> Callable[P, None]:
    """Make a command that asks the local stack alone, whatever FERRYMAN_URL says."""
    return _session_command(work, lambda: service.find_local_service(service.find_folder()))


def _session_command(
    work: Callable[Concatenate[ApiSession, P], Coroutine[Any, Any, int | None]], find: Callable[[], service.Service]
) -> Callable[P, None]:
    @workspace_option
    @functools.wraps(work)
    async def run(screen: Screen, /, *args: P.args, **kwargs: P.kwargs) -> int | None:
        workspace: Any = kwargs.pop("workspace")
        async with open_session(screen, find, workspace=workspace) as session:
            return await work(session, *args, **kwargs)

    return screen_command(run)


@asynccontextmanager
async def open_session(
    screen: Screen, find: Callable[[], service.Service] = service.find_service, *, workspace: str | None = None
) -> AsyncIterator[ApiSession]:
    """Yield a session with the service that `find` returns, in `workspace` or else the environment's.

    Raise `UnknownServiceError`, and `MisconfiguredError` where the environment names what can be no workspace.
    """
    known = find()
    async with AsyncClient(known.url, known.key, workspace=workspace) as client:
        yield ApiSession(client=client, screen=screen)

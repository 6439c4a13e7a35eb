"""Connecting from a terminal: begin a consent, wait for the browser to come back, or read the address that it ended at."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import webbrowser
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import click

from ferryman.cli import consent, exits
from ferryman.cli.commands import ApiSession
from ferryman.domain.credentials.authorization_response import (
    AuthorizationResponse,
    ConsentDeclinedError,
    UnexpectedCallbackError,
    read_response,
)
from ferryman.domain.credentials.redirect_uris import HOST

ADDRESS_CHARACTERS_MAX = 16_384
SECRET_CHARACTERS_MAX = 65_536
"""What is read of stdin at most; the service has its own, smaller limit."""

PROGRESS_S = 15
"""How often a progress message is printed."""

Begin = Callable[[str], Awaitable[Mapping[str, Any]]]
"""Begins a connection that leads back to a redirect URI, and returns what the API answers."""


class UnconnectedError(Exception):
    """Nothing was connected; the text says why, and `code` is what the command ends with."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentPlace:
    """Where the browser comes back to: `port` and `path` that are waited on, or `pasted_uri` whose address is pasted."""

    port: int
    path: str
    pasted_uri: str
    is_pasted: bool = False
    is_opened: bool = False
    within: int = 600


def consent_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options about where a consent comes back to."""
    options = (
        click.option("--port", default=0, show_default="any free one", help="The loopback port to wait on."),
        click.option("--open", "is_opened", is_flag=True, help="Open the consent page in a browser."),
        click.option("--no-listen", "is_pasted", is_flag=True, help="Wait on no port: paste the address the browser ends at."),
        click.option(
            "--within", default=600, show_default=True, type=click.IntRange(1, 600), help="Seconds to wait for the consent."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


async def obtain_consent(
    session: ApiSession, begin: Begin, place: ConsentPlace
) -> tuple[Mapping[str, Any], AuthorizationResponse]:
    """Print where to consent, and return what was begun and what the browser brought. Raise `UnconnectedError`."""
    try:
        if place.is_pasted:
            begun = await _begin(session, begin, place.pasted_uri, is_opened=place.is_opened)
            address = await _read_line(place.within)
            issuer = str(begun.get("issuer", ""))
            return begun, read_response(address, redirect_uri=place.pasted_uri, state=begun["state"], issuer=issuer)
        async with consent.serve_callback(place.port, place.path) as server:
            begun = await _begin(session, begin, server.uri, is_opened=place.is_opened)
            server.state, server.issuer = begun["state"], str(begun.get("issuer", ""))
            return begun, await _wait_for_response(server, place.within)
    except (ConsentDeclinedError, UnexpectedCallbackError) as refused:
        raise UnconnectedError(f"{refused}; nothing was connected", exits.REFUSED) from None
    except TimeoutError:
        raise UnconnectedError(f"no consent came within {place.within} s; nothing was connected", exits.FAILED) from None
    except OSError:
        message = f"port {place.port} of {HOST} is taken; choose another with --port, or leave it out"
        raise UnconnectedError(message, exits.FAILED) from None


def read_client_secret() -> str:
    """Return a client's secret: asked for without showing it, or the first line of stdin."""
    if sys.stdin.isatty():
        value: str = click.prompt("Client secret", hide_input=True, err=True)
        return value
    return sys.stdin.readline(SECRET_CHARACTERS_MAX).removesuffix("\n").removesuffix("\r")


async def _begin(session: ApiSession, begin: Begin, uri: str, *, is_opened: bool) -> Mapping[str, Any]:
    """Begin the connection and print where to consent; with --json, as one line."""
    begun = await begin(uri)
    page = {name: begun[name] for name in ("authorize_url", "expires_at", "issuer", "resource", "scopes") if name in begun}
    asked_by = f" at {begun['issuer']}" if "issuer" in begun else ""
    session.screen.print_result(page, f"Open this page and consent{asked_by}:\n\n{begun['authorize_url']}\n")
    if is_opened:
        webbrowser.open(begun["authorize_url"])
    return begun


async def _wait_for_response(server: consent.CallbackServer, within: int) -> AuthorizationResponse:
    """Return what the browser brings, and say every now and then that it is waited for."""
    for remaining_s in range(within, 0, -PROGRESS_S):
        click.echo(f"Waiting for the consent at {server.uri}, {remaining_s} s left.", err=True)
        with contextlib.suppress(TimeoutError):
            return await server.response(min(remaining_s, PROGRESS_S))
    raise TimeoutError


async def _read_line(within: int) -> str:
    """Read one line of stdin, without a thread, which nothing could end."""
    click.echo("Paste the address that your browser ends at:", err=True)
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    try:
        loop.add_reader(sys.stdin, ready.set)
    except PermissionError:
        ready.set()  # a file, which is always ready
    else:
        try:
            await asyncio.wait_for(ready.wait(), within)
        finally:
            loop.remove_reader(sys.stdin)
    return sys.stdin.readline(ADDRESS_CHARACTERS_MAX)

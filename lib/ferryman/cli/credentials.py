"""`ferryman credential`: a task's credentials; a value is read from a prompt or from stdin and never shown again."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import webbrowser
from collections.abc import Mapping
from typing import Any

import click

from ferryman.cli import consent, exits
from ferryman.cli.asking import Asking, asking

COLUMNS = (
    *("name", "service", "status", "auth_type", "auth_header_name", "auth_param_name", "allowed_domains"),
    *("scopes", "token_expires_at", "version", "updated_at"),
)
VALUE_CHARACTERS_MAX = 65_536
"""What is read of stdin at most; the service has its own, smaller limit."""

ADDRESS_CHARACTERS_MAX = 16_384
PROGRESS_S = 15
"""How often it is said that the consent is waited for."""


@click.group(no_args_is_help=True)
def credential() -> None:
    """Store, connect, list and delete a task's credentials. Values go in and never come out."""


@credential.command("set")
@click.argument("task")
@click.argument("name")
@click.option("--service", required=True, help="The integration it is for; it decides where the value may be sent.")
@click.option("--auth-type", type=click.Choice(["bearer", "header", "query_param"]), help="Default: as the service wants it.")
@click.option("--auth-header-name", metavar="NAME", help="The header's name, for auth type header.")
@click.option("--auth-param-name", metavar="NAME", help="The parameter's name, for auth type query_param.")
@asking
async def set_(
    asked: Asking,
    task: str,
    name: str,
    service: str,
    auth_type: str | None,
    auth_header_name: str | None,
    auth_param_name: str | None,
) -> None:
    """Store the credential NAME of TASK, or replace its value.

    The value is asked for without showing it, or read from stdin:

    \b
        ferryman credential set TASK LUNARCRUSH_API_KEY --service lunarcrush < key.txt
    """
    injection = {"auth_type": auth_type, "auth_header_name": auth_header_name, "auth_param_name": auth_param_name}
    given = {field: value for field, value in injection.items() if value is not None}
    stored = await asked.client.set_credential(task, name, {"value": _value(), "service": service, **given})
    asked.screen.record(stored)
    hosts = ", ".join(stored["allowed_domains"])
    asked.screen.say(f"{stored['name']} is sealed (version {stored['version']}); it can be sent to {hosts} and nowhere else.")


@credential.command("list")
@click.argument("task")
@asking
async def list_(asked: Asking, task: str) -> None:
    """List the credentials of TASK, without their values."""
    found = await asked.client.credentials(task)
    asked.screen.record(found)
    asked.screen.table(found, *COLUMNS, empty="The task has no credentials.")


@credential.command()
@click.argument("task")
@click.argument("name")
@asking
async def delete(asked: Asking, task: str, name: str) -> None:
    """Delete the credential NAME of TASK."""
    await asked.client.delete_credential(task, name)
    asked.screen.record({"name": name, "deleted": True})
    asked.screen.say(f"{name} is deleted.")


@credential.command()
@click.argument("service")
@click.option("--task", required=True, metavar="ID", help="The task that is to have it.")
@click.option("--name", metavar="NAME", help="The credential's name. Default: as the service's entry has it.")
@click.option("--scope", "scopes", multiple=True, help="What to ask for, once or more. Default: as the service's entry has it.")
@click.option("--client-id", metavar="ID", help="Your own OAuth client. Default: the house's.")
@click.option("--client-secret", "with_secret", is_flag=True, help="Your client has a secret: asked for, or read from stdin.")
@click.option("--port", default=0, show_default="any free one", help="The loopback port to wait on.")
@click.option("--open", "opening", is_flag=True, help="Open the consent page in a browser.")
@click.option("--no-listen", "pasted", is_flag=True, help="Wait on no port: paste the address the browser ends at.")
@click.option("--within", default=600, show_default=True, type=click.IntRange(1, 600), help="Seconds to wait for the consent.")
@asking
async def connect(
    asked: Asking,
    service: str,
    task: str,
    name: str | None,
    scopes: tuple[str, ...],
    client_id: str | None,
    with_secret: bool,
    port: int,
    opening: bool,
    pasted: bool,
    within: int,
) -> int | None:
    """Connect SERVICE by its owner's consent: print where to consent, wait for the answer, store the credential.

    \b
        ferryman credential connect dropbox --task ID --client-id APP_KEY
    """
    given = {"name": name, "client_id": client_id, "scopes": list(scopes) or None}
    wanted = {"service": service, **{field: value for field, value in given.items() if value is not None}}
    if with_secret:
        wanted["client_secret"] = _value("Client secret")
    try:
        if pasted:
            uri = f"http://{consent.HOST}:{port or consent.UNHEARD}{consent.PATH}"
            begun = await _begun(asked, task, {**wanted, "redirect_uri": uri}, opening=opening)
            code = consent.code_of(await _line(within), begun["state"])
        else:
            async with consent.landing(port) as place:
                begun = await _begun(asked, task, {**wanted, "redirect_uri": place.uri}, opening=opening)
                place.state = begun["state"]
                code = await _awaited(place, within)
    except (consent.Declined, consent.Strange) as refused:
        asked.screen.wrong(f"{refused}; nothing was connected")
        return exits.REFUSED
    except TimeoutError:
        asked.screen.wrong(f"no consent came within {within} s; nothing was connected")
        return exits.FAILED
    except OSError:
        asked.screen.wrong(f"port {port} of {consent.HOST} is taken; choose another with --port, or leave it out")
        return exits.FAILED
    stored = await asked.client.finish_connect(task, begun["state"], code)
    asked.screen.record(stored)
    hosts = ", ".join(stored["allowed_domains"])
    asked.screen.say(
        f"{stored['name']} is connected (version {stored['version']}); it can be sent to {hosts} and nowhere else."
    )
    return None


async def _begun(asked: Asking, task: str, wanted: Mapping[str, Any], *, opening: bool) -> Mapping[str, Any]:
    """The connection, once it is said where to consent; a program is told in JSON, on a line of its own."""
    begun = await asked.client.connect(task, wanted)
    asked.screen.record({"authorize_url": begun["authorize_url"], "expires_at": begun["expires_at"]})
    asked.screen.say(f"Open this page and consent:\n\n{begun['authorize_url']}\n")
    if opening:
        webbrowser.open(begun["authorize_url"])
    return begun


async def _awaited(place: consent.Landing, within: int) -> str:
    """The code, once the browser brings it; says every now and then that it is waited for."""
    for left in range(within, 0, -PROGRESS_S):
        click.echo(f"Waiting for the consent at {place.uri}, {left} s left.", err=True)
        with contextlib.suppress(TimeoutError):
            return await place.code(min(left, PROGRESS_S))
    raise TimeoutError


async def _line(within: int) -> str:
    """One line of stdin. It is waited for without a thread, which nothing could end."""
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


def _value(what: str = "Value") -> str:
    if sys.stdin.isatty():
        value: str = click.prompt(what, hide_input=True, err=True)
        return value
    # one line break at the end is the shell's, not the key's
    text = sys.stdin.read(VALUE_CHARACTERS_MAX) if what == "Value" else sys.stdin.readline(VALUE_CHARACTERS_MAX)
    return text.removesuffix("\n").removesuffix("\r")

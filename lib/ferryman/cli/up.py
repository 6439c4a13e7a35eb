"""`ferryman up`: the whole stack on this machine, until Ctrl-C."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import click

from ferryman.cli import exits, service, stack_lock
from ferryman.cli.commands import screen_command
from ferryman.cli.screen import Screen
from ferryman.client import ApiRefusedError, ApiUnreachableError, AsyncClient
from ferryman.serving import keys
from ferryman.settings import MisconfiguredError, check_services
from ferryman.stack.environment import derive_integration_id
from ferryman.stack.local_stack import STEPS, Stack, StackOptions, run_stack
from ferryman.stack.private import ExposedFolderError, StackRunningError

_HOST = re.compile(r"(?P<name>[A-Za-z0-9.-]+)=(?:127\.0\.0\.1|localhost):(?P<port>[0-9]{1,5})", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
PORT_MAX = 65_535
NEXT = """\
  ferryman integrations
  ferryman models
  ferryman task create --name hello --model scripted/hello --prompt Hello \\
      --tool http_get --tool api_call --integration coingecko
  ferryman credential set TASK COINGECKO_API_KEY --service coingecko
  ferryman run TASK
  ferryman chat --model scripted/chat
"""


def _hosts(_: click.Context, __: click.Parameter, options: tuple[str, ...]) -> dict[str, int]:
    hosts = {}
    for text in options:
        match = _HOST.fullmatch(text)
        if match is None or not 0 < int(match["port"]) <= PORT_MAX:
            raise click.BadParameter(f"{text!r} is not NAME=127.0.0.1:PORT")
        hosts[match["name"].lower()] = int(match["port"])
    return hosts


def _scripts(_: click.Context, __: click.Parameter, options: tuple[str, ...]) -> dict[str, Any]:
    scripts = {}
    for text in options:
        name, sign, path = text.partition("=")
        if not sign or not _NAME.fullmatch(name):
            raise click.BadParameter(f"{text!r} is not NAME=FILE")
        try:
            scripts[name] = json.loads(Path(path).read_text())
        except (OSError, ValueError) as error:
            raise click.BadParameter(f"{path} cannot be read as JSON: {error}") from error
    return scripts


@click.command()
@click.option("--data", type=click.Path(file_okay=False, path_type=Path), help="Where everything is kept. [default: .ferryman]")
@click.option("--api-port", type=click.IntRange(1, PORT_MAX), help="The API's port. [default: a free one, the same again]")
@click.option(
    "--host",
    "hosts",
    multiple=True,
    callback=_hosts,
    metavar="NAME=127.0.0.1:PORT",
    help="Let tools reach your own HTTPS server as NAME; the integration's id is NAME with _ for dots. Repeat for more.",
)
@click.option(
    "--ca",
    "authorities",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path),
    help="A PEM file of the authority that certified your servers; repeat for more.",
)
@click.option(
    "--script",
    "scripts",
    multiple=True,
    callback=_scripts,
    metavar="NAME=FILE",
    help="What the model scripted/NAME says, from a JSON file; repeat for more. scripted/hello is there.",
)
@click.option(
    "--firestore",
    type=click.Choice(["ours", "official", "external"]),
    help="Whose Firestore: ours, Google's own emulator where gcloud has it, or the one FIRESTORE_EMULATOR_HOST points at."
    " [default: external where that variable is set, else ours]",
)
@click.option(
    "--open",
    "open_to_all",
    is_flag=True,
    help="Serve our Firestore to clients that know FIRESTORE_EMULATOR_HOST and no token too: to every user of this machine.",
)
@screen_command
async def up(screen: Screen, /, data: Path | None, api_port: int | None, firestore: str | None, **options: Any) -> int:
    """Run the whole stack on this machine, until Ctrl-C.

    A local cloud (Firestore, Secret Manager, Cloud Tasks, triggers, a simulated internet, a scripted model) and every function
    as a process of its own. With ANTHROPIC_API_KEY set, tasks may name real models. FERRYMAN_PLANS, FERRYMAN_MODELS,
    FERRYMAN_PRICES, FERRYMAN_INTEGRATIONS and FERRYMAN_LEASE_S are passed on. With --json, one line is printed once all is up.
    """
    data = (data or service.find_folder()).resolve()
    chosen = firestore or ("external" if "FIRESTORE_EMULATOR_HOST" in service.read_environment() else "ours")
    if options["open_to_all"] and chosen != "ours":
        raise click.UsageError(f"--open is for our Firestore: with --firestore {chosen} it is open as it is")
    try:
        check_services(service.read_environment())
        with stack_lock.cancel_on_signal():
            key_file, key = stack_lock.load_key(data)
            stack = StackOptions(
                data=data,
                digest=keys.digest_key(key),
                key_file=key_file,
                api_port=api_port or 0,
                environment=service.read_environment(),
                firestore=chosen,
                **options,
            )
            async with AsyncExitStack() as running_stack:
                with screen.show_progress("starting the stack", STEPS):
                    running = await running_stack.enter_async_context(run_stack(stack, screen.print_step))
                _announce(screen, running, stack, await _make_link(running.url, key))
                code = await running.supervise(lambda text: screen.print_line(text, "yellow"))
                screen.print_error(f"the local cloud ended by itself (exit code {code}); see {data / 'cloud.log'}")
                return exits.FAILED
    except asyncio.CancelledError:
        screen.print_line("everything has ended; the data is kept", "dim")
        return exits.DONE
    except StackRunningError:
        screen.print_error(stack_lock.describe_conflict(data))
        return exits.FAILED
    except (ExposedFolderError, MisconfiguredError, ValueError) as error:
        screen.print_error(str(error))
        return exits.FAILED


async def _make_link(url: str, key: str) -> str | None:
    """Return a link that signs a browser in to the console, once; None where there is none, which ends nothing."""
    try:
        async with AsyncClient(url, key) as client:
            return (await client.create_sign_in_link())["url"]
    except (ApiUnreachableError, ApiRefusedError):
        return None


def _announce(screen: Screen, running: Stack, options: StackOptions, console: str | None) -> None:
    integrations = {host: derive_integration_id(host) for host in options.hosts}
    is_open = options.open_to_all or options.firestore != "ours"
    firestore = running.env["FIRESTORE_EMULATOR_HOST"]
    known = {"url": running.url, "key_file": str(options.key_file), "data": str(running.data), "admin": running.admin.url}
    screen.print_json({**known, "console": console, "integrations": integrations, "open": [firestore] if is_open else []})
    screen.print_line(f"\nThe API      {running.url}", "bold green")
    if console is not None:
        screen.print_line(f"The console  {console}\n             (once, within ten minutes; then: ferryman console)")
    screen.print_line(f"Your key     {options.key_file}\nLogs         {running.data / 'logs'}")
    if is_open:
        text = f"OPEN         Firestore at {firestore} asks for no token: every user of this machine can use it"
        screen.print_line(text, "yellow")
    for host, name in integrations.items():
        screen.print_line(f"Your host    {host}, as integration {name}")
    is_default = running.data == service.find_folder().resolve()
    folder = ":" if is_default else f", after\n  export FERRYMAN_DATA={running.data}"
    screen.print_line(f"\nNext, in another terminal{folder}\n{NEXT}")
    screen.print_line(f"Over HTTP, the description is at {running.url}/openapi.json.\nCtrl-C ends everything.", "dim")

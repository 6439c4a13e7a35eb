"""`ferryman up`: the whole stack on this machine, until Ctrl-C."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

import click

from ferryman.cli import exits, holding, service
from ferryman.cli.screen import Screen
from ferryman.serving import keys
from ferryman.wiring.local.admin import Refused
from ferryman.wiring.local.environment import integration_id
from ferryman.wiring.local.hold import Held
from ferryman.wiring.local.process import NotStarted
from ferryman.wiring.local.stack import Stack, Wanted, stack

_HOST = re.compile(r"(?P<name>[A-Za-z0-9.-]+)=(?:127\.0\.0\.1|localhost):(?P<port>[0-9]{1,5})", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
PORT_MAX = 65_535


def _hosts(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, int]:
    found = {}
    for text in given:
        match = _HOST.fullmatch(text)
        if match is None or not 0 < int(match["port"]) <= PORT_MAX:
            raise click.BadParameter(f"{text!r} is not NAME=127.0.0.1:PORT")
        found[match["name"].lower()] = int(match["port"])
    return found


def _scripts(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, Any]:
    found = {}
    for text in given:
        name, sign, path = text.partition("=")
        if not sign or not _NAME.fullmatch(name):
            raise click.BadParameter(f"{text!r} is not NAME=FILE")
        try:
            found[name] = json.loads(Path(path).read_text())
        except (OSError, ValueError) as error:
            raise click.BadParameter(f"{path} cannot be read as JSON: {error}") from error
    return found


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
    help="Whose Firestore: ours, Google's own emulator where gcloud carries it, or the one FIRESTORE_EMULATOR_HOST points at."
    " [default: external where that variable is set, else ours]",
)
@click.option("--json", "as_json", is_flag=True, help="One line of JSON once all is up.")
def up(data: Path | None, api_port: int | None, firestore: str | None, as_json: bool, **given: Any) -> None:
    """Run the whole stack on this machine, until Ctrl-C.

    A local cloud (Firestore, Secret Manager, Cloud Tasks, triggers, a pretend internet, a scripted model) and every function
    as a process of its own. With ANTHROPIC_API_KEY set, tasks may name real models. FERRYMAN_PLANS, FERRYMAN_PRICES,
    FERRYMAN_INTEGRATIONS and FERRYMAN_LEASE_S are passed on.
    """
    screen = Screen(as_json=as_json)
    folder = (data or service.folder()).resolve()
    chosen = firestore or ("external" if "FIRESTORE_EMULATOR_HOST" in service.variables() else "ours")
    sys.exit(asyncio.run(_up(screen, folder, api_port or 0, {**given, "firestore": chosen})))


async def _up(screen: Screen, data: Path, api_port: int, given: dict[str, Any]) -> int:
    try:
        with holding.until_signal():
            key_file, key = holding.key_of(data)
            wanted = Wanted(
                data=data,
                digest=keys.digest(key),
                key_file=key_file,
                api_port=api_port,
                environment=service.variables(),
                **given,
            )
            async with stack(wanted, lambda text: screen.say(f"{text} …", "dim")) as running:
                _announce(screen, running, key_file, list(given["hosts"]))
                code = await running.tend(lambda text: screen.say(text, "yellow"))
                screen.wrong(f"the local cloud ended by itself (exit code {code}); see {data / 'cloud.log'}")
                return exits.FAILED
    except asyncio.CancelledError:
        screen.say("everything has ended; the data is kept", "dim")
        return exits.DONE
    except Held:
        screen.wrong(holding.busy(data))
        return exits.FAILED
    except (NotStarted, Refused, ValueError) as error:
        screen.wrong(str(error))
        return exits.FAILED


def _announce(screen: Screen, running: Stack, key_file: Path, hosts: list[str]) -> None:
    own = {host: integration_id(host) for host in hosts}
    known = {"url": running.url, "key_file": str(key_file), "data": str(running.data), "admin": running.admin.url}
    screen.record({**known, "integrations": own})
    screen.say()
    screen.say(f"The API      {running.url}", "bold green")
    screen.say(f"Your key     {key_file}")
    screen.say(f"Logs         {running.data / 'logs'}")
    for host, name in own.items():
        screen.say(f"Your host    {host}, as integration {name}")
    screen.say()
    screen.say("Next, in another terminal" + (":" if running.data == service.folder().resolve() else ", after"))
    if running.data != service.folder().resolve():
        screen.say(f"  export FERRYMAN_DATA={running.data}")
    screen.say("  ferryman integrations")
    screen.say("  ferryman models")
    screen.say("  ferryman task create --name hello --model scripted/hello --prompt Hello \\")
    screen.say("      --tool http_get --tool api_call --integration coingecko")
    screen.say("  ferryman credential set TASK COINGECKO_API_KEY --service coingecko")
    screen.say("  ferryman run TASK")
    screen.say()
    screen.say(f"Over HTTP, the description is at {running.url}/openapi.json.", "dim")
    screen.say("Ctrl-C ends everything.", "dim")

"""`ferryman demo`: one task runs end to end in a stack of its own, is attacked on the way, and the proof is shown."""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
import time
from pathlib import Path

import click

from ferryman.cli import exits, holding
from ferryman.cli.demo.play import play
from ferryman.cli.screen import Screen
from ferryman.cli.service import variables
from ferryman.client import Client, Refused, Unreachable
from ferryman.serving import keys
from ferryman.wiring.local import leftovers
from ferryman.wiring.local.admin import Refused as NotDone
from ferryman.wiring.local.hold import Held, hold
from ferryman.wiring.local.process import NotStarted
from ferryman.wiring.local.stack import Wanted, stack

PREFIX = "ferryman-demo-"
MODEL_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One line of JSON at the end: what held and what did not.")
def demo(as_json: bool) -> None:
    """Watch one task run end to end on a local cloud: no account, no key, nothing left behind.

    Pretend services, a task with a sealed credential, a scripted model that attacks three times, the audit table, and the
    proof that the planted key was in no place but the one header it was meant for. Exit code 0 only if all of it held.
    """
    sys.exit(asyncio.run(_demo(Screen(as_json=as_json))))


async def _demo(screen: Screen) -> int:
    began = time.monotonic()
    await _sweep(screen)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()  # noqa: ASYNC240 - before anything else runs
    try:
        with holding.until_signal():
            key_file, key = holding.key_of(folder)
            # the demo's model is scripted: it has no use for anybody's key
            environment = {name: value for name, value in variables().items() if name not in MODEL_KEYS}
            wanted = Wanted(data=folder, digest=keys.digest(key), key_file=key_file, environment=environment)
            screen.say("A stack of its own", "bold")
            async with stack(wanted, lambda text: screen.say(f"  {text} …")) as running:
                screen.say(f"  up after {time.monotonic() - began:.1f} s: {running.url}")
                async with Client(running.url, key) as client:
                    held = await play(screen, running, client)
    except asyncio.CancelledError:
        screen.wrong("interrupted; everything it started has ended")
        return exits.INTERRUPTED
    except (NotStarted, NotDone, Unreachable) as error:
        screen.wrong(str(error))
        return exits.FAILED
    except Refused as refused:
        screen.wrong(refused.detail, status=refused.status, errors=refused.errors)
        return exits.FAILED
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    screen.say()
    took = f"{time.monotonic() - began:.0f} s, everything it started has ended"
    screen.say(f"Everything held ({took})." if held else f"NOT everything held ({took}).", "bold green" if held else "bold red")
    return exits.DONE if held else exits.FAILED


async def _sweep(screen: Screen) -> None:
    """End and remove what demos that were killed left behind; one that is running is left alone."""
    for folder in Path(tempfile.gettempdir()).resolve().glob(f"{PREFIX}*"):  # noqa: ASYNC240 - likewise
        try:
            with hold(folder):
                await leftovers.recover(folder)
                shutil.rmtree(folder, ignore_errors=True)
            screen.say(f"A demo that was killed had left {folder}; it is cleared away.", "yellow")
        except (Held, OSError):
            continue

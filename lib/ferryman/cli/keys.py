"""`ferryman keys`: the versions of the keys, what each holds, and their rotation."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import click

from ferryman.cli import exits, service
from ferryman.cli.asking import Asking, asking_here
from ferryman.ports import Unavailable
from ferryman.vault import rotate as rotation
from ferryman.wiring.local import leftovers, operator
from ferryman.wiring.local.admin import Refused
from ferryman.wiring.local.operator import Operator

COLUMNS = ("key", "version", "state", "created_at", "credentials", "calls_under_way")


@asynccontextmanager
async def operating(asked: Asking) -> AsyncIterator[Operator]:
    """The operator of the stack that runs here. Raises `Unknown` when none does."""
    note = leftovers.note(service.folder())
    if note is None:
        raise service.Unknown(f"no stack runs on {service.folder()} any more")
    async with operator.opened(note, asked.client.receipt_keys) as opened:
        yield opened


@click.group(no_args_is_help=True)
def keys() -> None:
    """List and rotate the keys of the local stack, whose data folder is FERRYMAN_DATA or the nearest .ferryman."""


@keys.command("list")
@asking_here
async def list_(asked: Asking) -> None:
    """List the versions of the sealing key and of the receipt key, and what is sealed to each."""
    await asked.client.me()  # says at once that nobody answers, which Google's clients take minutes to
    async with operating(asked) as house:
        credentials = Counter(each.version for each in await house.holdings.credentials())
        calls = await house.holdings.calls()
        found = [
            {
                "key": name,
                "version": each.number,
                "state": "enabled" if each.enabled else "disabled",
                "created_at": each.created_at.isoformat(timespec="seconds"),
                "credentials": credentials[each.number] if ring is house.sealing else None,
                "calls_under_way": calls.get(each.number, 0) if ring is house.sealing else None,
            }
            for name, ring in (("sealing", house.sealing), ("receipts", house.receipts))
            for each in sorted(await ring.versions(), key=lambda version: version.number)
        ]
    asked.screen.record(found)
    asked.screen.table(found, *COLUMNS, empty="There are none.")


@keys.command()
@click.argument("key", type=click.Choice(["sealing", "receipts"]), default="sealing")
@asking_here
async def rotate(asked: Asking, key: str) -> int:
    """Rotate the sealing key: a new version, every credential sealed to it, the old version disabled.

    Executions run on meanwhile; the old version is disabled when no credential and no call under way is sealed to it. It is
    not destroyed: a backup from before is sealed to it. Broken off anywhere, the same command goes on.

    `rotate receipts` adds a version to the key that receipts are signed with; receipts of before stay verifiable.
    """
    await asked.client.me()
    try:
        async with operating(asked) as house:
            if key == "receipts":
                number = await rotation.rotate_receipts(house.house(house.receipts, asked.screen.say))
                asked.screen.record({"key": key, "version": number})
                return exits.DONE
            done = await rotation.rotate(house.house(house.sealing, asked.screen.say))
    except (Unavailable, Refused, rotation.Idle) as error:
        asked.screen.wrong(f"{error}; nothing is lost, and the same command goes on from here")
        return exits.FAILED
    asked.screen.record(
        {
            "key": key,
            "version": done.version,
            "retired": list(done.retired),
            "unreadable": [list(each) for each in done.unreadable],
        }
    )
    for task, name in done.unreadable:
        asked.screen.say(f"credential {name} of task {task} does not open with any key: store it again", "yellow")
    asked.screen.say(f"everything is sealed to version {done.version}")
    return exits.DONE

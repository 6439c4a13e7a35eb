"""`ferryman keys`: the versions of the keys, what each holds, and their rotation."""

from __future__ import annotations

from collections import Counter

import click

from ferryman.cli.operating import operating
from ferryman.cli.screen import Screen
from ferryman.vault import rotate as rotation
from ferryman.wiring.operator import Operator

COLUMNS = ("key", "version", "state", "created_at", "credentials", "calls_under_way")


@click.group(no_args_is_help=True)
def keys() -> None:
    """List and rotate the keys of the local stack, or of a deployment."""


@keys.command("list")
@operating
async def list_(house: Operator, screen: Screen) -> None:
    """List the versions of the sealing key and of the receipt key, and what is sealed to each."""
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
    screen.record(found)
    screen.table(found, *COLUMNS, empty="There are none.")


@keys.command()
@click.argument("key", type=click.Choice(["sealing", "receipts"]), default="sealing")
@operating
async def rotate(house: Operator, screen: Screen, key: str) -> None:
    """Rotate the sealing key: a new version, every credential sealed to it, the old version disabled.

    Executions run on meanwhile; the old version is disabled when no credential and no call under way is sealed to it. It is
    not destroyed: a backup from before is sealed to it. Broken off anywhere, the same command goes on.

    `rotate receipts` adds a version to the key that receipts are signed with; receipts of before stay verifiable.
    """
    if key == "receipts":
        screen.record({"key": key, "version": await rotation.rotate_receipts(house.house(house.receipts, screen.say))})
        return
    done = await rotation.rotate(house.house(house.sealing, screen.say))
    unreadable = [list(each) for each in done.unreadable]
    screen.record({"key": key, "version": done.version, "retired": list(done.retired), "unreadable": unreadable})
    for task, name in done.unreadable:
        screen.say(f"credential {name} of task {task} does not open with any key: store it again", "yellow")
    screen.say(f"everything is sealed to version {done.version}")

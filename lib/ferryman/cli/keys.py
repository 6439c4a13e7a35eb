"""`ferryman keys`: the versions of the keys, what each holds, and their rotation."""

from __future__ import annotations

from collections import Counter

import click

from ferryman.cli.operator_commands import operator_command
from ferryman.cli.screen import Screen
from ferryman.composition.operator import Operator
from ferryman.gcp.key_store import SecretManagerKeyStore
from ferryman.vault import rotate as rotation

COLUMNS = ("key", "version", "state", "created_at", "credentials", "calls_under_way")


@click.group(no_args_is_help=True)
def keys() -> None:
    """List and rotate the keys of the local stack, or of a deployment."""


@keys.command("list")
@operator_command
async def list_(deps: Operator, screen: Screen) -> None:
    """List the versions of the sealing key, the receipt key, the keys for decisions and for the platform, and what is sealed
    to each."""
    credentials = Counter(sealed.version for sealed in await deps.sealed_inventory.list_credentials())
    calls = await deps.sealed_inventory.count_calls()
    rows = [
        {
            "key": name,
            "version": sealed.number,
            "state": "enabled" if sealed.enabled else "disabled",
            "created_at": sealed.created_at.isoformat(timespec="seconds"),
            "credentials": credentials[sealed.number] if key_store is deps.sealing else None,
            "calls_under_way": calls.get(sealed.number, 0) if key_store is deps.sealing else None,
        }
        for name, key_store in _list_stores(deps)
        for sealed in sorted(await key_store.list_versions(), key=lambda version: version.number)
    ]
    screen.print_list(rows, *COLUMNS)


@keys.command()
@click.argument("key", type=click.Choice(["sealing", "receipts", "decisions", "platform"]), default="sealing")
@operator_command
async def rotate(deps: Operator, screen: Screen, key: str) -> None:
    """Rotate the sealing key: a new version, every credential sealed to it, the old version disabled.

    Executions run on meanwhile; the old version is disabled when no credential and no call under way is sealed to it. It is
    not destroyed: a backup from before is sealed to it. Broken off anywhere, the same command goes on.

    `rotate receipts` adds a version to the key that receipts are signed with; receipts of before stay verifiable.

    `rotate decisions` adds a version to the key that decisions of people are signed with. The one before stays valid until the
    next rotation: what was approved under it, and is not sent by then, is asked about again.

    `rotate platform` adds a version to the key that requests to the platform's own server are signed with. The one before stays
    valid until the next rotation: rotate twice, some minutes apart, where a key has leaked.
    """
    if key == "receipts":
        version = await rotation.rotate_receipts(deps.build_rotation(deps.receipts, screen.print_line))
        screen.print_json({"key": key, "version": version})
        return
    if key == "decisions":
        version = await rotation.rotate_decisions(deps.build_rotation(deps.decisions, screen.print_line))
        screen.print_json({"key": key, "version": version})
        return
    if key == "platform":
        version = await rotation.rotate_requests(deps.build_rotation(deps.requests, screen.print_line))
        screen.print_json({"key": key, "version": version})
        return
    done = await rotation.rotate(deps.build_rotation(deps.sealing, screen.print_line))
    unreadable = [list(credential) for credential in done.unreadable]
    screen.print_json({"key": key, "version": done.version, "retired": list(done.retired), "unreadable": unreadable})
    for task, name in done.unreadable:
        screen.print_line(f"credential {name} of task {task} does not open with any key: store it again", "yellow")
    screen.print_line(f"everything is sealed to version {done.version}")


def _list_stores(deps: Operator) -> tuple[tuple[str, SecretManagerKeyStore], ...]:
    return ("sealing", deps.sealing), ("receipts", deps.receipts), ("decisions", deps.decisions), ("platform", deps.requests)

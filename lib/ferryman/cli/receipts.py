"""`ferryman receipts` and `ferryman verify`: the signed chain of an execution, and whether one is whole and genuine."""

from __future__ import annotations

import json
import sys
from typing import TextIO

import click

from ferryman.cli.commands import ApiSession, api_command


@click.command()
@click.argument("execution", required=False)
@click.option("--output", type=click.File("w"), help="Write them to this file.")
@api_command
async def receipts(session: ApiSession, execution: str | None, output: TextIO | None) -> None:
    """Print the receipts of EXECUTION, with the public keys, as one JSON document. Without one, the public keys alone, a line
    each.

    Keep the keys apart from the receipts: `ferryman verify FILE --public-key KEYFILE` then trusts nothing else.
    """
    if execution is None:
        keys = await session.client.list_receipt_keys()
        text = json.dumps(keys) if session.screen.as_json else "\n".join(f"{version}:{key}" for version, key in keys.items())
    else:
        text = json.dumps(await session.client.get_receipts(execution), indent=None if session.screen.as_json else 1)
    click.echo(text, file=output)


@click.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--public-key", multiple=True, metavar="KEY", help="VERSION:HEX, or a file of such lines; wins over FILE's own.")
@click.option("--record", multiple=True, metavar="JSON", help="What `ferryman show EXECUTION --audit --json` printed.")
def verify(file: str, public_key: tuple[str, ...], record: tuple[str, ...]) -> None:
    """Verify that the receipts in FILE are whole and genuine, and that a record is the one that was signed. Asks no service.

    FILE may also be the receipt of a deletion, as `ferryman workspace delete --receipt FILE` writes it.

    Exit codes: 0 whole and genuine, and all of the record is as it was signed; 1 not; 2 cannot be read; 3 genuine so far, but
    without a last entry, or with parts of the record that no receipt covers, which are printed.
    `python -m ferryman.verify_receipts` is the same; that file works alone, with nothing but Python and cryptography.
    """
    from ferryman import verify_deletion, verify_receipts

    keys = [f"--public-key={value}" for value in public_key]
    if not record and verify_deletion.is_deletion(file):
        sys.exit(verify_deletion.main([*keys, "--", file]))
    sys.exit(verify_receipts.main([*keys, *(f"--record={value}" for value in record), "--", file]))

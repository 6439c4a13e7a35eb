"""`ferryman receipts` and `ferryman verify`: the signed chain of an execution, and whether one is whole and genuine."""

from __future__ import annotations

import json
import sys
from typing import TextIO

import click

from ferryman.cli.asking import Asking, asking


@click.command()
@click.argument("execution", required=False)
@click.option("--output", type=click.File("w"), help="Write them to this file.")
@asking
async def receipts(asked: Asking, execution: str | None, output: TextIO | None) -> None:
    """The receipts of EXECUTION, with the public keys, as one JSON document. Without one, the public keys alone, a line each.

    Keep the keys apart from the receipts: `ferryman verify FILE --public-key KEYFILE` then trusts nothing else.
    """
    if execution is None:
        keys = await asked.client.receipt_keys()
        text = json.dumps(keys) if asked.screen.as_json else "\n".join(f"{version}:{key}" for version, key in keys.items())
    else:
        text = json.dumps(await asked.client.receipts(execution), indent=None if asked.screen.as_json else 1)
    click.echo(text, file=output)


@click.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--public-key", multiple=True, metavar="KEY", help="VERSION:HEX, or a file of such lines; wins over FILE's own.")
@click.option("--record", multiple=True, metavar="JSON", help="What `ferryman show EXECUTION [--calls] --json` printed.")
def verify(file: str, public_key: tuple[str, ...], record: tuple[str, ...]) -> None:
    """Are the receipts in FILE whole and genuine? Asks no service.

    Exit codes: 0 whole and genuine, 1 not, 2 cannot be read, 3 genuine so far but without a last entry.
    `python -m ferryman.verify_receipts` is the same; that file works alone, with nothing but Python and cryptography.
    """
    from ferryman import verify_receipts

    given = [*(f"--public-key={each}" for each in public_key), *(f"--record={each}" for each in record)]
    sys.exit(verify_receipts.main([*given, "--", file]))

"""`ferryman receipts` and `ferryman verify`: the signed chain of an execution, and whether one is whole and genuine."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TextIO

import click

from ferryman.cli.commands import ApiSession, api_command
from ferryman.cli.screen import neutralize_controls
from ferryman.domain.archives.lines import ArchiveError
from ferryman.domain.counts import say_count

GZIP = b"\x1f\x8b"
"""How an archive begins; no document of receipts does."""


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

    FILE may also be the receipt of a deletion, as `ferryman workspace delete --receipt FILE` writes it, or an archive of
    `ferryman workspace export`: then every digest in it is verified, and the receipts and the record of each of its executions.

    Exit codes: 0 whole and genuine, and all of the record is as it was signed; 1 not; 2 cannot be read; 3 genuine so far, but
    without a last entry, or with parts of the record that no receipt covers, which are printed.
    `python -m ferryman.verify_receipts` is the same for receipts; that file works alone, with nothing but Python and
    cryptography.
    """
    from ferryman import verify_deletion, verify_receipts

    keys = [f"--public-key={value}" for value in public_key]
    if not record and verify_deletion.is_deletion(file):
        sys.exit(verify_deletion.main([*keys, "--", file]))
    if not record and _is_compressed(Path(file)):
        sys.exit(_verify_archive(Path(file), public_key))
    sys.exit(verify_receipts.main([*keys, *(f"--record={value}" for value in record), "--", file]))


def _is_compressed(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(GZIP)) == GZIP
    except OSError:
        return False


def _verify_archive(path: Path, public_key: tuple[str, ...]) -> int:
    """Print what is found out of an archive, and return the exit code: that of its worst execution."""
    from ferryman import verify_receipts as verifier
    from ferryman.serving.verify_archive import read_keys, verify_archive

    counts: Counter[int] = Counter()
    try:
        pinned = read_keys(public_key)
        for verdict in verify_archive(path, pinned, tell=lambda sentence: click.echo(neutralize_controls(sentence))):
            counts[verdict.code] += 1
            if verdict.code != verifier.WHOLE:
                click.echo(neutralize_controls(f"{verdict.execution}: {verdict.sentence}"))
    except ArchiveError as error:
        click.echo(f"NOT WHOLE: {neutralize_controls(error)}")
        return verifier.WRONG
    except (OSError, ValueError) as error:
        click.echo(f"CANNOT BE READ: {neutralize_controls(error)}")
        return verifier.UNREADABLE
    all_read = say_count(counts.total(), "executions")
    click.echo(f"The archive is whole: {all_read}, {counts[verifier.WHOLE]:,} of them whole and genuine.")
    click.echo("Verified with the public keys you gave." if pinned else verifier.UNPINNED)
    return next((code for code in (verifier.WRONG, verifier.OPEN) if counts[code]), verifier.WHOLE)

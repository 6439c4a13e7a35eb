"""`python -m emulator.matrix`: which function may do what with which resource, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from emulator.permissions import read_grants
from emulator.plan import find_shipped
from emulator.reading import InvalidRequestError
from emulator.table import NOTHING, FunctionRow, name_bucket, read_table


def build_matrix(rows: Mapping[str, FunctionRow]) -> list[list[str]]:
    """Return the lines of the table, the first being its head: a column for Firestore, each secret, each queue, each bucket."""
    secrets = sorted({secret for row in rows.values() for secret in row.secrets})
    queues = sorted({queue for row in rows.values() for queue in row.enqueues})
    buckets = sorted({bucket for row in rows.values() for bucket in row.buckets})
    resources = {"secret": secrets, "queue": queues, "bucket": buckets}
    head = ["function", "firestore", *(f"{kind} {name}" for kind, names in resources.items() for name in names)]
    return [head, *(_line(row, secrets, queues, buckets) for row in rows.values())]


def _line(row: FunctionRow, secrets: Sequence[str], queues: Sequence[str], buckets: Sequence[str]) -> list[str]:
    grants = read_grants(row, "p")
    administers = "objects, signed URLs" if grants.signs else "objects"
    return [
        row.name,
        grants.firestore,
        *("access" if name in grants.secrets else NOTHING for name in secrets),
        *("create tasks" if name in grants.queues else NOTHING for name in queues),
        *(administers if name_bucket(name, "p") in grants.buckets else NOTHING for name in buckets),
    ]


@click.command()
@click.option("--functions", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="The table of functions.")
def main(functions: Path | None) -> None:
    """Print what each function may do; whatever is not in the table is denied to all of them."""
    try:
        lines = build_matrix(read_table(functions or find_shipped("infra/functions.json", "functions.json")))
    except InvalidRequestError as error:
        raise click.ClickException(str(error)) from error
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


if __name__ == "__main__":
    main()

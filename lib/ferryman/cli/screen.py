"""The screen: text and tables for people, JSON for programs; nothing that was received can steer the terminal."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ferryman.cli.service import variables

PIPED_COLUMNS = 160
"""A file has no width of its own; a log is read in a wide window."""

HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
"""Categories of characters that a terminal may obey, or that reorder or hide text."""


def plain(value: object) -> str:
    """`value` as text in which every character shows; line breaks and tabs stay."""
    text = "" if value is None else str(value)
    return "".join("·" if unicodedata.category(each) in HIDDEN and each not in "\n\t" else each for each in text)


def short(value: object, most: int) -> str:
    """`plain`, on one line, cut to `most` characters."""
    text = " ".join(plain(value).split())
    return text if len(text) <= most else text[: most - 1] + "…"


class Screen:
    """Where a command writes. With `as_json`, only `record` and errors show, and both are JSON."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self._piped = not sys.stdout.isatty()
        width = PIPED_COLUMNS if self._piped and "COLUMNS" not in variables() else None
        self._out = Console(highlight=False, soft_wrap=True, width=width)

    @property
    def width(self) -> int:
        """Columns of the terminal."""
        return self._out.width

    def say(self, text: object = "", style: str = "") -> None:
        """A line for people."""
        if not self.as_json:
            self._out.print(Text(plain(text), style=style))

    def draw(self, what: object) -> None:
        """Something of rich's, for people."""
        if not self.as_json:
            self._out.print(what, soft_wrap=False)

    @contextmanager
    def working(self, text: str) -> Iterator[None]:
        """What is being waited for, with a sign of life, where somebody looks on."""
        if self.as_json or not sys.stderr.isatty():
            yield
            return
        with Console(stderr=True).status(Text(plain(text))):
            yield

    def record(self, value: object) -> None:
        """One line of JSON, for programs."""
        if self.as_json:
            click.echo(json.dumps(value))

    def wrong(self, text: str, *, status: int | None = None, errors: Iterable[tuple[str, str]] = ()) -> None:
        """What went wrong, to standard error."""
        listed = [(plain(name), plain(message)) for name, message in errors]
        if self.as_json:
            problem = {"error": text, "status": status, "errors": [{"field": name, "message": said} for name, said in listed]}
            click.echo(json.dumps(problem), err=True)
            return
        err = Console(stderr=True, highlight=False, soft_wrap=True)
        err.print(Text.assemble(("Error: ", "bold red"), plain(text)))
        for name, said in listed:
            err.print(Text.assemble("  ", (name, "bold"), f": {said}"))

    def table(self, rows: Sequence[Mapping[str, Any]], *columns: str, empty: str) -> None:
        """`rows` as a table of these columns, or `empty` where there are none; a line a row where nobody has a window."""
        if not rows:
            self.say(empty, "dim")
            return
        if self._piped:
            self.lines(rows, *columns)
            return
        table = grid(*columns)
        for row in rows:
            table.add_row(*(Text(_cell(row.get(column))) for column in columns))
        self.draw(table)

    def lines(self, rows: Sequence[Mapping[str, Any]], *columns: str) -> None:
        """`rows` under a heading, each on a line of its own however long that gets."""
        head = [column.replace("_", " ") for column in columns]
        cells = [head, *([" ".join(_cell(row.get(column)).split()) or "-" for column in columns] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for number, row in enumerate(cells):
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            self.say(line.rstrip(), "" if number else "bold")

    def fields(self, record: Mapping[str, Any]) -> None:
        """One record, a field a line; empty fields are left out."""
        width = max((len(name) for name in record), default=0)
        for name, value in record.items():
            if value not in (None, "", [], {}):
                self.say(f"{name:<{width}}  {_cell(value)}")


def grid(*columns: str) -> Table:
    """An empty table in the house's manner."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for number, column in enumerate(columns):
        # the first column is what people copy
        table.add_column(column.replace("_", " "), overflow="fold", no_wrap=number == 0)
    return table


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(plain(each) for each in value)
    if isinstance(value, dict):
        return plain(json.dumps(value))
    return plain(value)

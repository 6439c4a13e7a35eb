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
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from ferryman.cli.service import read_environment

PIPED_COLUMNS = 160
"""A file has no width of its own; a log is read in a wide window."""

HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
"""Categories of characters that a terminal may obey, or that reorder or hide text."""


def neutralize_controls(value: object) -> str:
    """Return `value` as text in which every character shows; line breaks and tabs stay."""
    text = "" if value is None else str(value)
    return "".join(
        "·" if unicodedata.category(character) in HIDDEN and character not in "\n\t" else character for character in text
    )


def shorten(value: object, most: int) -> str:
    """Return the text of `value` on one line, cut to `most` characters."""
    text = " ".join(neutralize_controls(value).split())
    return text if len(text) <= most else text[: most - 1] + "…"


class Screen:
    """Where a command writes. With `as_json`, only `record` and errors show, and both are JSON."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self._bar: Progress | None = None
        self._steps: int | None = None
        self._piped = not sys.stdout.isatty()
        width = PIPED_COLUMNS if self._piped and "COLUMNS" not in read_environment() else None
        self._out = Console(highlight=False, soft_wrap=True, width=width)

    @property
    def width(self) -> int:
        """Columns of the terminal."""
        return self._out.width

    @property
    def is_unicode(self) -> bool:
        """Whether the terminal, or the file, takes characters beyond ASCII."""
        return (sys.stdout.encoding or "").lower().startswith("utf")

    def print_line(self, text: object = "", style: str = "") -> None:
        """Print a line for people."""
        if not self.as_json:
            # above a progress bar, which has the last line of the terminal that both are on
            out = self._out if self._bar is None or self._piped else self._bar.console
            out.print(Text(neutralize_controls(text), style=style))

    def print_renderable(self, what: object) -> None:
        """Print a renderable of rich, for people."""
        if not self.as_json:
            self._out.print(what, soft_wrap=False)

    @contextmanager
    def show_progress(self, text: str, steps: int | None = None) -> Iterator[None]:
        """Show a progress bar on standard error while inside, where that is a terminal: `text`, then what `print_step` says.

        Without the number of `steps` the bar only shows that something is under way, and for how long, until
        `print_count` says how far it is.
        """
        if self.as_json or not sys.stderr.isatty():
            yield
            return
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=24), TimeElapsedColumn())
        # what is printed to standard output stays there, whatever that is
        with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as bar:
            bar.add_task(shorten(text, console.width // 2), total=steps)
            self._bar, self._steps = bar, steps
            try:
                yield
            finally:
                self._bar = None

    def print_step(self, text: str) -> None:
        """Print what begins now, and move the progress bar on where there is one."""
        self.print_line(f"{text} …", "dim")
        if self._bar is not None and self._steps is None:
            # what is counted next has an end of its own
            self._fill(text, completed=0, total=None)
        else:
            self._fill(text, advance=1)

    def print_count(self, text: str, done: int, total: int) -> None:
        """Print what was done, which is `done` of `total`, and fill the progress bar as far, where there is one."""
        self.print_line(f"{text} ({done:,} of {total:,})", "dim")
        self._fill(f"{done:,} of {total:,}: {text}", completed=done, total=total)

    def show_count(self, what: str, done: int, total: int) -> None:
        """Fill the progress bar as far as `done` is of `total`, where there is one; print nothing."""
        self._fill(f"{done:,} of {total:,} {what}", completed=done, total=total)

    def show_work(self, text: str) -> None:
        """Say on the progress bar what is under way, where there is one; print nothing."""
        self._fill(text)

    def _fill(self, text: str, **change: Any) -> None:
        if self._bar is not None:
            for task in self._bar.task_ids:
                self._bar.update(task, description=shorten(text, self._bar.console.width // 2), **change)

    def print_json(self, value: object) -> None:
        """Print one line of JSON, for programs."""
        if self.as_json:
            click.echo(json.dumps(value))

    def print_result(self, value: object, text: str) -> None:
        """Print `value` for programs, and `text` for people."""
        self.print_json(value)
        self.print_line(text)

    def print_list(self, rows: Sequence[Mapping[str, Any]], *columns: str, empty: str = "There are none.") -> None:
        """Print `rows` as JSON for programs, and as a table of these columns for people."""
        self.print_json(rows)
        self.print_table(rows, *columns, empty=empty)

    def print_error(self, text: str, *, status: int | None = None, errors: Iterable[tuple[str, str]] = ()) -> None:
        """Print what went wrong, to standard error."""
        listed = [(neutralize_controls(name), neutralize_controls(message)) for name, message in errors]
        if self.as_json:
            fields = [{"field": name, "message": reason} for name, reason in listed]
            click.echo(json.dumps({"error": text, "status": status, "errors": fields}), err=True)
            return
        err = Console(stderr=True, highlight=False, soft_wrap=True)
        err.print(Text.assemble(("Error: ", "bold red"), neutralize_controls(text)))
        for name, reason in listed:
            err.print(Text.assemble("  ", (name, "bold"), f": {reason}"))

    def print_table(self, rows: Sequence[Mapping[str, Any]], *columns: str, empty: str) -> None:
        """Print `rows` as a table of these columns, or `empty` where there are none; a line a row where the output is a
        file."""
        if not rows:
            self.print_line(empty, "dim")
            return
        if self._piped:
            self.print_lines(rows, *columns)
            return
        table = create_table(*columns)
        for row in rows:
            table.add_row(*(Text(_cell(row.get(column))) for column in columns))
        self.print_renderable(table)

    def print_lines(self, rows: Sequence[Mapping[str, Any]], *columns: str) -> None:
        """Print `rows` under a heading, each on a line of its own however long that gets."""
        head = [column.replace("_", " ") for column in columns]
        cells = [head, *([" ".join(_cell(row.get(column)).split()) or "-" for column in columns] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for number, row in enumerate(cells):
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            self.print_line(line.rstrip(), "" if number else "bold")

    def print_fields(self, record: Mapping[str, Any]) -> None:
        """Print one record, a field a line; empty fields are left out."""
        width = max((len(name) for name in record), default=0)
        for name, value in record.items():
            if value not in (None, "", [], {}):
                self.print_line(f"{name:<{width}}  {_cell(value)}")


def create_table(*columns: str) -> Table:
    """Return an empty table in our style."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for number, column in enumerate(columns):
        # the first column is what people copy
        table.add_column(column.replace("_", " "), overflow="fold", no_wrap=number == 0)
    return table


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(neutralize_controls(element) for element in value)
    if isinstance(value, dict):
        return neutralize_controls(json.dumps(value))
    return neutralize_controls(value)

"""Figures: how many cases of each class passed, counted over the whole run, workers included, and told at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"
Tally = Callable[[str, str, bool], None]


class Figures:
    """Passed and counted cases by group and class."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], list[int]] = {}

    def add(self, group: str, klass: str, passed: int, total: int) -> None:
        """Count `passed` more that passed, of `total` more."""
        count = self.counts.setdefault((group, klass), [0, 0])
        count[0] += passed
        count[1] += total

    def rows(self) -> list[tuple[str, str, int, int]]:
        """Group, class, passed, total, in the order of their names."""
        return [(group, klass, passed, total) for (group, klass), (passed, total) in sorted(self.counts.items())]

    def lines(self) -> Iterator[str]:
        """Yield the table as the terminal shows it."""
        names = {(group, klass): f"{group} / {klass} " for group, klass in self.counts}
        width = max(map(len, names.values()), default=0) + 3
        for group, klass, passed, total in self.rows():
            yield f"{names[group, klass]:.<{width}} {passed:,} passed of {total:,}"
        yield f"{'all ':.<{width}} {sum(row[2] for row in self.rows()):,} passed of {sum(row[3] for row in self.rows()):,}"

    def markdown(self) -> str:
        """Return the table as docs/figures.md shows it: a line for each group, its classes in it."""
        table = ["| group | classes, passed of all | in all |", "|---|---|---|"]
        for group in dict.fromkeys(row[0] for row in self.rows()):
            rows = [row for row in self.rows() if row[0] == group]
            classes = ", ".join(f"{klass} {passed:,}/{total:,}" for _, klass, passed, total in rows)
            table.append(f"| {group} | {classes} | {sum(row[2] for row in rows):,} of {sum(row[3] for row in rows):,} |")
        return "\n".join(table) + "\n"

    def write(self, path: Path) -> None:
        """Put the table into the file: between its two marks where it has them, else as all of it."""
        text = path.read_text() if path.exists() else ""
        before, mark, rest = text.partition(BEGIN)
        _, closing, after = rest.partition(END)
        path.write_text(f"{before}{mark}\n{self.markdown()}\n{closing}{after}" if mark and closing else self.markdown())


FIGURES = pytest.StashKey[Figures]()


@pytest.fixture(scope="session")
def tally(request: pytest.FixtureRequest) -> Tally:
    """Counts one case of a class of a group, passed or not. Call it first, then assert."""
    figures = request.config.stash[FIGURES]
    return lambda group, klass, passed: figures.add(group, klass, int(passed), 1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--figures", metavar="FILE", type=Path, help="write the figures of the run into FILE, as Markdown")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[FIGURES] = Figures()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    # A worker that died has no output.
    for row in getattr(node, "workeroutput", {}).get("figures", ()):
        node.config.stash[FIGURES].add(*row)


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    figures = session.config.stash[FIGURES]
    if output is not None:
        output["figures"] = figures.rows()
    elif figures.counts and session.config.getoption("figures"):
        figures.write(session.config.getoption("figures"))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if config.stash[FIGURES].counts:
        terminalreporter.section("figures")
        for line in config.stash[FIGURES].lines():
            terminalreporter.write_line(line)

"""The table in docs/performance.md: read, changed by bench, and written between its markers."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench import Row
from bench.table import BENCHES

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/performance.md"
BEGIN, END = "<!-- bench -->\n", "<!-- end of bench -->\n"
HEAD = (
    "| what | bar | measured | reached | where it goes | `make bench ONLY=` | commit, date |\n|---|---|---|---|---|---|---|\n"
)
COLUMNS = 7


@dataclass(frozen=True, slots=True)
class Entry:
    """A row, and what it was measured on."""

    row: Row
    commit: str
    date: str


def describe_commit() -> str:
    """Return the short name of the commit that was measured, with `+` where files differ from it."""
    name = _ask("git", "rev-parse", "--short=7", "HEAD")
    return name + ("+" if _ask("git", "status", "--porcelain", "--untracked-files=no", "--", ":!docs") else "")


def describe_machine() -> str:
    """Return what the figures depend on: processors, memory, Python."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    names = [line.partition(":")[2].strip() for line in _read_cpuinfo() if line.startswith("model name")]
    name = names[0] if names else platform.machine()
    return f"{os.cpu_count()} × {name}, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}"


def render(measured: dict[str, list[Entry]]) -> str:
    """Return the table, in the order in which the benches are registered."""
    lines = [_render_row(name, entry) for name in BENCHES for entry in measured.get(name, [])]
    reached = sum(entry.row.reached for rows in measured.values() for entry in rows)
    together = sum(len(rows) for rows in measured.values())
    return f"{HEAD}{''.join(lines)}\n{reached} of {together} reached. Machine: {describe_machine()}.\n"


def read_page(page: Path = PAGE) -> dict[str, list[Entry]]:
    """Return the rows that the page shows, by bench."""
    measured: dict[str, list[Entry]] = {}
    inside = page.read_text().partition(BEGIN)[2].partition(END)[0]
    for line in inside.splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == COLUMNS and (name := cells[5].strip("`")) in BENCHES:
            what, bar, figure, reached, note, _, mark = cells
            commit, _, date = mark.partition(", ")
            row = Row(what, bar, figure, reached=reached == "yes", note=note)
            measured.setdefault(name, []).append(Entry(row, commit, date))
    return measured


def write_page(measured: dict[str, list[Entry]], page: Path = PAGE) -> None:
    """Write the table between the page's markers."""
    write_between(page, BEGIN, END, render(measured))


def write_between(page: Path, begin: str, end: str, text: str) -> None:
    """Replace what is between two markers of a page."""
    before, marker, rest = page.read_text().partition(begin)
    assert marker, f"{page} has no {begin.strip()}"
    page.write_text(f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}")


def _render_row(name: str, entry: Entry) -> str:
    row = entry.row
    cells = (
        row.what,
        row.bar,
        row.measured,
        "yes" if row.reached else "**no**",
        row.note,
        f"`{name}`",
        f"{entry.commit}, {entry.date}",
    )
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"


def _read_cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def _ask(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

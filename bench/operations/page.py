"""docs/cost.md: the output of `ferryman cost` in it, and the table of what its formulas leave to be added."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.operations.document import ROOT

PAGE = ROOT / "docs/cost.md"
COST = ("<!-- ferryman cost -->", "<!-- end of ferryman cost -->")
BESIDE = ("<!-- further parts -->", "<!-- end of further parts -->")
TITLES = {
    "conversation": "an execution in a conversation that has a limit of credits",
    "alert_repeat": "the second delivery of an alert, a day later, which finds it settled",
}
AMOUNTS = ("reads", "writes", "queue_operations")


def write_page(parts: Mapping[str, Mapping[str, Any]]) -> None:
    """Write both into docs/cost.md, which has a mark before and behind each."""
    command = [Path(sys.executable).with_name("ferryman"), "cost"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    text = _put_between(PAGE.read_text(), COST, f"```\n{printed}```")
    PAGE.write_text(_put_between(text, BESIDE, build_table(parts)))


def build_table(parts: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of the parts of `TITLES`, from measured ones."""
    columns = ("", "documents read", "documents written", "operations of the queue", "requests to functions")
    rows = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for name, title in TITLES.items():
        amounts = [str(parts[name][amount]) for amount in AMOUNTS]
        rows.append(f"| {' | '.join([title, *amounts, str(sum(parts[name]['requests'].values()))])} |")
    return "\n".join(rows)


def read_table() -> str:
    """Return the table as the page has it."""
    begin, end = BESIDE
    return PAGE.read_text().partition(begin)[2].partition(end)[0].strip()


def _put_between(text: str, marks: tuple[str, str], content: str) -> str:
    begin, end = marks
    before, _, rest = text.partition(begin)
    return f"{before}{begin}\n\n{content}\n\n{end}{rest.partition(end)[2]}"

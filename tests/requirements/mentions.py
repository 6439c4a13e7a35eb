"""Mentions: which lines of the seeds code and documents name, as S0-131, or as a range of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.requirements.table import ROOT, Requirement, State

FOLDERS = ("lib", "functions", "emulator", "infra", "bench", "tests", "docs", ".ci")
SUFFIXES = (".py", ".md", ".toml", ".json", ".tf", ".yaml", ".yml", ".sh", "")
PAGE = ROOT / "docs" / "specification.md"
_TABLES = ROOT / "tests" / "requirements"
_CONFLICT = re.compile(r"\bC-\d+\b")
_MENTION = re.compile(r"\bS(\d+)-(\d+)\b(?:\s*(?:…|\.\.\.?|–)\s*S(\d+)-(\d+)\b)?")


def find_mentions(text: str) -> Iterator[str]:
    """Yield every line that `text` names, contradictions too; a range, as S1-27 … S1-30, names all between its ends."""
    yield from _CONFLICT.findall(text)
    for seed, first, other, last in _MENTION.findall(text):
        yield from (f"S{seed}-{number}" for number in range(int(first), int(last or first) + 1))
        if other not in ("", seed):
            yield f"S{other}-{last}"


def list_files() -> Iterator[Path]:
    """Yield the files that may name lines: sources, tests and documents, but for the tables and the page made of them."""
    top = [path for path in ROOT.iterdir() if path.is_file() and (path.suffix in SUFFIXES[:4] or path.name == "Makefile")]
    below = (path for name in FOLDERS for path in (ROOT / name).rglob("*"))
    for path in (*top, *below):
        if path.suffix in SUFFIXES and path.is_file() and _TABLES not in path.parents and path != PAGE:
            yield path


@cache
def read_mentions() -> dict[str, list[str]]:
    """Return the files that name each line, by the line's number."""
    files: dict[str, list[str]] = {}
    for path in list_files():
        for number in find_mentions(path.read_bytes().decode("utf-8", "replace")):
            files.setdefault(number, []).append(str(path.relative_to(ROOT)))
    return files


def find_claimed(lines: Iterable[Requirement], named: Collection[str]) -> list[str]:
    """Return the lines that are open although code or documents name them: who names a line says that it is built."""
    return [line.id for line in lines if line.state is State.OPEN and line.id in named]


NAMING = ("tool_triggers.py", "tool_triggers.json", "agents.json")
"""Files of the library that only name tools."""


def read_library() -> str:
    """Return the sources of the library and its functions as one text, without what only names tools: the entries of those
    that are not implemented, the words that would load them, and the templates of agents that may call them."""
    paths = (path for folder in ("lib", "functions") for path in (ROOT / folder).rglob("*"))
    lines = (
        line
        for path in sorted(paths)
        if path.suffix in (".py", ".json") and path.name not in NAMING
        for line in path.read_text().splitlines()
    )
    return "\n".join(line for line in lines if '"implemented": false' not in line)

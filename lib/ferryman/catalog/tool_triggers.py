"""Triggers: which tools some words in a message load, where a task's tools are loaded by context (S3-91).

They choose among the tools that a task has enabled, and enable none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ferryman.catalog import check_members, need
from ferryman.catalog.tools import LISTED, load_file

FILE = "catalog/tool_triggers.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerRow:
    """One category: any of its `keywords` loads its `tools`; a word of `further` loads some more besides."""

    name: str
    keywords: tuple[str, ...]
    tools: tuple[str, ...]
    further: Mapping[str, tuple[str, ...]]


_FIELDS = frozenset(field.name for field in fields(TriggerRow))


def read_triggers(document: Mapping[str, Any], known: Collection[str]) -> tuple[frozenset[str], tuple[TriggerRow, ...]]:
    """Return the tools that are always loaded, and the rows. Raise `MisconfiguredError`, which names the place."""
    check_members(document, FILE, frozenset(("core", "rows")), frozenset(("core", "rows")))
    rows = []
    for index, entry in enumerate(document["rows"]):
        where = f"{FILE} rows.{index}"
        check_members(entry, where, _FIELDS, _FIELDS)
        row = TriggerRow(
            name=entry["name"],
            keywords=tuple(entry["keywords"]),
            tools=tuple(entry["tools"]),
            further={word: tuple(names) for word, names in entry["further"].items()},
        )
        need(all(word == word.strip().lower() != "" for word in row.keywords), f"{where}: keywords must be in small letters")
        need(set(row.further) <= set(row.keywords), f"{where}: further must be of its keywords")
        unknown = {*row.tools, *(name for names in row.further.values() for name in names)} - set(known)
        need(not unknown, f"{where}: there is no tool {sorted(unknown)}")
        rows.append(row)
    core = frozenset(document["core"])
    need(core <= set(known), f"{FILE} core: there is no tool {sorted(core - set(known))}")
    return core, tuple(rows)


def write_pattern(keyword: str) -> str:
    """Return the regular expression of a keyword: whole words, in any case, the last one also in its simple plural (S3-104)."""
    *before, last = (re.escape(word) for word in keyword.split())
    plural = f"{last[:-1]}(?:y|ies)" if last.endswith("y") else f"{last}(?:s|es)?"
    words = r"\s+".join([*before, plural])
    return rf"(?<!\w){words}(?!\w)"


CORE, ROWS = read_triggers(load_file("tool_triggers.json"), LISTED)
"""The tools that are loaded whatever a message says, and the rows in the order of the specification."""

TRIGGERED = frozenset(name for row in ROWS for names in (row.tools, *row.further.values()) for name in names)
"""The tools that only a keyword loads."""

_PATTERNS = {keyword: re.compile(write_pattern(keyword), re.IGNORECASE) for row in ROWS for keyword in row.keywords}


def match_triggers(text: str) -> frozenset[str]:
    """Return the tools that the keywords in `text` load: those of all rows that have one (S3-104), in linear time."""
    present = {keyword for keyword, pattern in _PATTERNS.items() if pattern.search(text)}
    names: set[str] = set()
    for row in ROWS:
        matched = [keyword for keyword in row.keywords if keyword in present]
        names.update(row.tools if matched else (), *(row.further.get(keyword, ()) for keyword in matched))
    return frozenset(names)

"""What is kept of a measurement: the file that `ferryman cost` reckons with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.operations.counting import ACCESSES, DELETES, READS, REQUESTS, TASKS, WRITES
from bench.operations.parts import Measured, Part
from bench.operations.services import FUNCTIONS
from bench.operations.stage import INVOKED, LINES, LOGGED, STORED, STREAMED
from infra.build import archive

ROOT = Path(__file__).parents[2]
PATH = ROOT / "lib/ferryman/billing/cloud/measured.json"
COMMAND = "python -m bench.operations --write"
PARTS = ("start", "opening", "turn", "call", "end", "slice", "look", "beat", "watch", "poll", "sweep", "instance")
COUNTED = {
    "reads": READS,
    "writes": WRITES,
    "deletes": DELETES,
    "queue_operations": TASKS,
    "accesses": ACCESSES,
    "log_lines": LINES,
}
BYTES = {"log_bytes": LOGGED, "stored_bytes": STORED, "streamed_bytes": STREAMED}
ROUNDED_TO = 10
"""Bytes; ids and times are not always of the same length."""


def kept(found: Measured) -> dict[str, Any]:
    """Return the measurement and what it was measured on, as JSON."""
    rows = {row["name"]: row for row in json.loads((ROOT / "infra/functions.json").read_text())["functions"]}
    return {
        "command": COMMAND,
        "archives_bytes": sum(len(archive(name).packed()) for name in rows),
        "functions": {name: {key: rows[name][key] for key in ("memory_mib", "concurrency")} for name in FUNCTIONS},
        "parts": parts(found),
    }


def parts(found: Measured) -> dict[str, dict[str, Any]]:
    """Return the parts that the cost is reckoned with, by name."""
    return {name: _part(getattr(found, name)) for name in PARTS}


def _part(counts: Part) -> dict[str, Any]:
    def total(kind: str) -> int:
        return sum(count for (_, each), count in counts.items() if each == kind)

    def by_function(kind: str) -> dict[str, int]:
        return {name: counts[name, kind] for name in FUNCTIONS if counts[name, kind]}

    counted = {name: total(kind) for name, kind in COUNTED.items()}
    measured = {name: round(total(kind) / ROUNDED_TO) * ROUNDED_TO for name, kind in BYTES.items()}
    return {**counted, **measured, "requests": by_function(INVOKED), "round_trips": by_function(REQUESTS)}

"""The stored measurement: the file from which `ferryman cost` calculates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.operations.counting import ACCESSES, CLASS_A, CLASS_B, DELETES, KEPT_BYTES, READS, REQUESTS, TASKS, WRITES
from bench.operations.parts import Part, PartCounts
from bench.operations.services import COUNTED, FILES, FUNCTIONS, SEARCH, WEB
from bench.operations.system import INVOKED, LINES, LOGGED, STORED, STREAMED
from infra.build import archive

ROOT = Path(__file__).parents[2]
PATH = ROOT / "lib/ferryman/billing/cloud/measured.json"
COMMAND = "python -m bench.operations --write"
PARTS = (
    *("start", "admission", "opening", "turn", "call", "end", "slice", "look", "beat", "watch", "poll", "check", "sweep"),
    *("instance", "conversation", "alert_repeat", "direct_call", "roll_up", "usage_event"),
    *("file_write", "file_read", "web_fetch", "kept_result", "kept_answer", "web_search_tool"),
    *("page_overview", "page_overview_again", "page_executions", "page_executions_again", "page_execution"),
    *("page_approvals", "page_approvals_again", "page_conversations", "page_conversation", "page_tasks", "page_task"),
    "page_check",
)
AMOUNTS = {
    "reads": READS,
    "writes": WRITES,
    "deletes": DELETES,
    "queue_operations": TASKS,
    "accesses": ACCESSES,
    "log_lines": LINES,
    "class_a": CLASS_A,
    "class_b": CLASS_B,
}
BYTES = {"log_bytes": LOGGED, "stored_bytes": STORED, "streamed_bytes": STREAMED, "file_bytes": KEPT_BYTES}
ROUNDED_TO = 10
"""Bytes; ids and times are not always of the same length."""


def build_document(measured: PartCounts) -> dict[str, Any]:
    """Build the JSON of a measurement, with the functions that it was measured on."""
    rows = {row["name"]: row for row in json.loads((ROOT / "infra/functions.json").read_text())["functions"]}
    return {
        "command": COMMAND,
        "archives_bytes": sum(len(archive(name).packed()) for name in rows),
        "functions": {name: {key: rows[name][key] for key in ("memory_mib", "concurrency")} for name in FUNCTIONS},
        "parts": build_parts(measured),
    }


def build_parts(measured: PartCounts) -> dict[str, dict[str, Any]]:
    """Build the parts from which the cost is calculated, by name."""
    return {name: _build_part(getattr(measured, name)) for name in PARTS}


def _build_part(counts: Part) -> dict[str, Any]:
    def total(kind: str) -> int:
        return sum(count for (_, counted_kind), count in counts.items() if counted_kind == kind)

    def by_function(kind: str) -> dict[str, int]:
        return {name: counts[name, kind] for name in (*COUNTED, FILES, SEARCH, WEB) if counts[name, kind]}

    counted = {name: total(kind) for name, kind in AMOUNTS.items()}
    measured = {name: round(total(kind) / ROUNDED_TO) * ROUNDED_TO for name, kind in BYTES.items()}
    return {**counted, **measured, "requests": by_function(INVOKED), "round_trips": by_function(REQUESTS)}

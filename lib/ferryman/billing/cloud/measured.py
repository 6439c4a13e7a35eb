"""Measurements: the use of the cloud by each part of an execution, counted on the local cloud."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPart:
    """Counts and bytes of one part.

    `class_a` and `class_b` are operations of the bucket in the classes by which Cloud Storage bills, `file_bytes` what is kept
    there.
    `requests` and `round_trips` are by function: those that it receives, and those that it waits for.
    """

    reads: int
    writes: int
    deletes: int
    queue_operations: int
    accesses: int
    log_lines: int
    log_bytes: int
    stored_bytes: int
    streamed_bytes: int
    class_a: int
    class_b: int
    file_bytes: int
    requests: Mapping[str, int]
    round_trips: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredFunction:
    """A row of the table of functions: its memory, and how many requests one instance serves at a time."""

    memory_mib: int
    concurrency: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """The parts and functions by name, the archives of all functions in bytes, and the command that measured them."""

    command: str
    archives_bytes: int
    parts: Mapping[str, MeasuredPart]
    functions: Mapping[str, MeasuredFunction]

    def __getitem__(self, part: str) -> MeasuredPart:
        return self.parts[part]


@cache
def load_measurement() -> Measurement:
    """Return the measurement of the package."""
    content = json.loads(files("ferryman.billing.cloud").joinpath("measured.json").read_text())
    return Measurement(
        command=content["command"],
        archives_bytes=content["archives_bytes"],
        parts={name: MeasuredPart(**row) for name, row in content["parts"].items()},
        functions={name: MeasuredFunction(**row) for name, row in content["functions"].items()},
    )

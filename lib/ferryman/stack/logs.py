"""The logs of a stack's functions: read line by line, in the order of their times, and followed as they grow.

A function writes JSON lines with a time; what else a process of it says has none, and keeps its place in its file.
"""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LOG_LINE_BYTES_MAX = 65_536
"""What is longer is read as several lines: a process may write anything."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of a function: its time, empty before the first that has one; its text; its fields where it is JSON."""

    time: str
    function: str
    text: str
    fields: dict[str, Any] | None = field(default=None, compare=False)


class LogFile:
    """The log of one function, from where it was read last; no longer where it is shorter than that: then from its start."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0
        self._time = ""

    @property
    def function(self) -> str:
        """The name of the function."""
        return self._path.stem

    def read(self) -> Iterator[LogLine]:
        """Yield the whole lines that have come since."""
        try:
            file = self._path.open("rb")
        except OSError:
            return
        with file:
            if file.seek(0, 2) < self._at:
                self._at = 0
            file.seek(self._at)
            while content := file.readline(LOG_LINE_BYTES_MAX):
                if not content.endswith(b"\n") and len(content) < LOG_LINE_BYTES_MAX:
                    return  # it is still being written
                self._at += len(content)
                yield self._parse(content.decode(errors="replace").rstrip("\n"))

    def _parse(self, text: str) -> LogLine:
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict):
            return LogLine(self._time, self.function, text)
        self._time = max(self._time, str(fields.get("time", "")))
        return LogLine(self._time, self.function, text, fields)


def find_logs(folder: Path, function: str | None = None) -> Sequence[LogFile]:
    """Return the logs in `folder`, of all functions or of one."""
    return [LogFile(path) for path in sorted(folder.glob("*.log")) if function in (None, path.stem)]


def read_lines(logs: Sequence[LogFile]) -> Iterator[LogLine]:
    """Yield the lines that have come to these logs since they were read last, in the order of their times."""
    yield from heapq.merge(*(log.read() for log in logs), key=lambda line: line.time)

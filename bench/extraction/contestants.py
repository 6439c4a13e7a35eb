"""The contestants: ours, and libraries in environments of their own, one process each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.extraction.corpora import StoredPage
from bench.loop.contestants import PATHS, install

PEERS = ("readability-lxml", "trafilatura", "resiliparse")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A text, the seconds of processor time that it took, and the most memory of its process in MB."""

    text: str
    cpu_s: float
    peak_mb: float


class Contestant:
    """A process that reads pages when it is told to."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def read(self, page: StoredPage) -> Outcome:
        """Return the outcome of one page. Raise RuntimeError where the process ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        question = {"path": str(page.path), "content_type": page.content_type, "url": page.url}
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args} ended with {self._process.wait()}")
        return Outcome(**json.loads(line))


@contextmanager
def start(name: str) -> Iterator[Contestant]:
    """Start a contestant; it ends with the context."""
    python = Path(sys.executable) if name.startswith("ours") else install(name)
    environment = {**os.environ, "PYTHONPATH": PATHS}
    command = [str(python), "-m", "bench.extraction.contestant", name]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Contestant(process)
        finally:
            process.kill()


def read_all(name: str, pages: Iterable[StoredPage]) -> list[Outcome]:
    """Return the outcomes of pages, all in one process."""
    with start(name) as contestant:
        return [contestant.read(page) for page in pages]


def read_alone(name: str, page: StoredPage) -> Outcome:
    """Return the outcome of a page in a process of its own."""
    return read_all(name, [page])[0]

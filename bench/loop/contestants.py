"""The contestants: who is run, in which environment, and their processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATHS = f"{ROOT / 'lib'}{os.pathsep}{ROOT}"
OURS, SDK = "bench.loop.ours", "bench.loop.sdk"

PEERS = ("agno", "adk", "langgraph", "openai-agents", "pydantic-ai", "smolagents")
"""The peers; what is installed for each is pinned by a lock of its name."""

SILENT = {
    "OTEL_SDK_DISABLED": "true",
    "AGNO_TELEMETRY": "false",
    "ANTHROPIC_API_KEY": "none",
    "LANGSMITH_TRACING": "false",
}
"""Telemetry and tracing of the peers is off, and so is what they fetch when they start."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of a round: of processor time with and without workers, and of time."""

    cpu: float
    process: float
    wall: float


@dataclass(frozen=True, slots=True)
class Contestant:
    """A process that runs conversations when it is told to."""

    process: subprocess.Popen[str]
    port: int

    def measure(
        self, rounds: int, size: int, *, times: int = 1, delay_ms: int = 0, at_once: bool = False, kind: str = ""
    ) -> Cost:
        """Run `times` conversations, and return what a round of them took; of those at once, all of them together.

        Those of a contestant without a server are of a `kind`.
        """
        url = kind or f"http://127.0.0.1:{self.port}/{rounds}/{delay_ms}"
        order = {"url": url, "rounds": rounds, "size": size, "times": times, "at_once": at_once}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.process.args} ended with {self.process.wait()}")
        spent, count = json.loads(answer), rounds * times
        return Cost(
            cpu=spent["cpu_ms"] / count,
            process=spent["own_ms"] / count,
            wall=spent["wall_ms"] / (rounds if at_once else count),
        )


@contextmanager
def serve(module: str) -> Iterator[str]:
    """Yield the line that a server of this folder prints when it is ready."""
    command = [sys.executable, "-m", module]
    environment = {**os.environ, "PYTHONPATH": PATHS}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@contextmanager
def start(module: str, port: int, python: Path = Path(sys.executable), **variables: str) -> Iterator[Contestant]:
    """Yield the contestant of a module, in the environment of `python`."""
    paths = PATHS if python == Path(sys.executable) else str(ROOT)
    environment = {**os.environ, **SILENT, "PYTHONPATH": paths, **variables}
    command = [python, ROOT / "bench/loop/runner.py", module]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield Contestant(process, port)
        finally:
            process.kill()


def start_peer(peer: str, port: int) -> AbstractContextManager[Contestant]:
    """Return the contestant of a peer, in its own environment."""
    return start(f"bench.loop.peers.{peer.replace('-', '_')}", port, install(peer))


def install(peer: str) -> Path:
    """Return the interpreter of the environment of a peer, made at its first use."""
    folder = ROOT / "build/peers" / peer
    python = folder / "bin/python"
    if not (folder / ".ready").exists():
        print(f"installing {peer} …", file=sys.stderr, flush=True)
        uv = Path(sys.executable).with_name("uv")
        subprocess.run([uv, "venv", "--clear", "--quiet", "--python", sys.executable, folder], check=True)
        pip = [uv, "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--python", python]
        subprocess.run([*pip, "--requirement", ROOT / f"locks/peer-{peer}.lock"], check=True)
        (folder / ".ready").touch()
    return python

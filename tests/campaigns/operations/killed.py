"""A stack that was killed: `make operations`, since it takes two stacks of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

from ferryman.stack.stack_process import StackProcess
from tests.cli.test_up import ENDS_S, FERRYMAN, ferryman

FUNCTIONS = 8
LEFT_S = 2.0
"""How long after the death of `ferryman up` anything that it started may run."""


def list_descendants(root: int) -> list[StackProcess]:
    """Return the processes that a process has started, and those that these have, in whatever session."""
    descendants: list[StackProcess] = []
    for children in Path(f"/proc/{root}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            descendants += [process for process in (StackProcess.from_pid(child),) if process is not None] + list_descendants(
                child
            )
    return descendants


def start(data: Path) -> tuple[subprocess.Popen[str], str]:
    """Return a stack that keeps running, and its output until it was up."""
    child = subprocess.Popen([FERRYMAN, "up", "--data", data], stdout=subprocess.PIPE, text=True)
    output = ""
    assert child.stdout is not None
    for line in child.stdout:
        output += line
        if "Ctrl-C" in line:
            break
    return child, output


def test_a_killed_stack_is_cleared_away_and_its_tasks_and_key_are_kept(tmp_path: Path) -> None:
    data = tmp_path / "data"
    first, _ = start(data)
    options = ("--name", "kept", "--model", "scripted/none", "--prompt", "Do.")
    created = ferryman("task", "create", *options, data=data)
    started = list_descendants(first.pid)
    assert len(started) >= FUNCTIONS
    first.send_signal(signal.SIGKILL)
    first.wait()
    began = time.monotonic()
    while alive := [process for process in started if process.is_alive()]:
        assert time.monotonic() - began < LEFT_S, alive
    first.communicate()
    assert "was killed" in ferryman("status", data=data).stderr
    second, output = start(data)
    try:
        assert "was killed" in output
        assert created.stdout.strip() in ferryman("task", "list", data=data).stdout
    finally:
        second.send_signal(signal.SIGINT)
        second.communicate(timeout=ENDS_S)
    assert second.returncode == 0
    assert not (data / "stack.json").exists()
    assert json.loads((data / "processes.json").read_text() if (data / "processes.json").exists() else "{}") == {}

"""A stack of its own for each test here: what is killed is cleared away, and what is busy is said."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

FERRYMAN = Path(sys.executable).with_name("ferryman")
ENDS_S = 40


def ferryman(*arguments: object, data: Path) -> subprocess.CompletedProcess[str]:
    command = [FERRYMAN, *map(str, arguments)]
    env = {**os.environ, "FERRYMAN_DATA": str(data)}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=ENDS_S, check=False)


def start(data: Path) -> tuple[subprocess.Popen[str], str]:
    """A stack that stays, and what it said until it was up."""
    child = subprocess.Popen([FERRYMAN, "up", "--data", data], stdout=subprocess.PIPE, text=True)
    said = ""
    assert child.stdout is not None
    for line in child.stdout:
        said += line
        if "Ctrl-C" in line:
            break
    return child, said


def test_a_killed_stack_is_cleared_away_and_its_tasks_and_key_are_kept(tmp_path: Path) -> None:
    data = tmp_path / "data"
    first, _ = start(data)
    options = ("--name", "kept", "--model", "scripted/none", "--prompt", "Do.")
    made = ferryman("task", "create", *options, data=data)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    second, said = start(data)
    try:
        assert "was killed" in said
        assert made.stdout.strip() in ferryman("task", "list", data=data).stdout
    finally:
        second.send_signal(signal.SIGINT)
        second.communicate(timeout=ENDS_S)
    assert second.returncode == 0
    assert not (data / "stack.json").exists()
    assert json.loads((data / "processes.json").read_text() if (data / "processes.json").exists() else "{}") == {}


def test_a_busy_port_is_said(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        tried = ferryman("up", "--data", tmp_path, "--api-port", port, data=tmp_path)
    assert (tried.returncode, f"port {port} is busy" in tried.stderr) == (1, True)


def test_a_host_that_is_not_on_loopback_is_wrong_usage(tmp_path: Path) -> None:
    tried = ferryman("up", "--host", "api.mine.example=10.0.0.1:443", data=tmp_path)
    assert (tried.returncode, "NAME=127.0.0.1:PORT" in tried.stderr) == (2, True)

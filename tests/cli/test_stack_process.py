"""Who runs the stack on a folder: found, signalled, and told apart from one that has its number since."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ferryman.stack import private
from ferryman.stack.stack_process import StackProcess, find_process, note_process


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return private.make_private_folder(tmp_path / "data")


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends when its input does."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        yield process


def note(data: Path, pid: int, started: str) -> None:
    private.write_file(data / private.PROCESS, json.dumps({"pid": pid, "started": started}))


def test_it_is_known_while_it_runs(data: Path) -> None:
    with note_process(data):
        assert find_process(data) == StackProcess.from_pid(os.getpid())
    assert find_process(data) is None


def test_another_process_with_its_number_is_not_it(data: Path, stranger: subprocess.Popen[bytes]) -> None:
    note(data, stranger.pid, "long ago")
    assert find_process(data) is None


def test_a_process_with_its_number_is_not_signalled(stranger: subprocess.Popen[bytes]) -> None:
    assert not StackProcess(pid=stranger.pid, started="long ago").send(signal.SIGKILL)
    assert stranger.poll() is None


def test_a_process_that_started_then_is_signalled(stranger: subprocess.Popen[bytes]) -> None:
    before_signal = StackProcess.from_pid(stranger.pid)
    assert before_signal is not None
    assert before_signal.send(signal.SIGKILL)
    assert stranger.wait() == -signal.SIGKILL
    assert not before_signal.is_alive()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"pid": "x", "started": "1"}', '{"pid": 1, "started": ""}', '{"pid": -1}'])
def test_a_note_that_is_none_means_nobody(data: Path, text: str) -> None:
    private.write_file(data / private.PROCESS, text)
    assert find_process(data) is None


def test_a_note_in_a_folder_that_others_may_enter_means_nobody(data: Path) -> None:
    with note_process(data):
        data.chmod(0o755)
        assert find_process(data) is None
        data.chmod(0o700)


def test_a_process_that_has_ended_and_was_not_waited_for_is_gone() -> None:
    reader, writer = os.pipe()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=reader, stdout=subprocess.PIPE) as process:
        os.close(reader)
        before_signal = StackProcess.from_pid(process.pid)
        os.close(writer)
        assert process.stdout is not None
        process.stdout.read()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert before_signal is not None
        assert not before_signal.is_alive()

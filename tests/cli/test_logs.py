"""The logs of a stack's functions: which lines are read, in which order, and what is shown of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferryman.stack.logs import LOG_LINE_BYTES_MAX, LogFile, find_logs, read_lines
from tests.cli.test_up import ferryman


def write(folder: Path, function: str, *lines: object) -> None:
    (folder / "logs").mkdir(mode=0o700, exist_ok=True)
    with (folder / "logs" / f"{function}.log").open("a") as log:
        log.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)


def record(time: str, message: str, **fields: object) -> dict[str, object]:
    return {"time": f"2026-11-22T10:00:{time}+00:00", "severity": "INFO", "message": message, **fields}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two functions that have logged in turns, one of them also without a time."""
    tmp_path.chmod(0o700)
    write(tmp_path, "api", record("01", "first"), "Traceback of a library", record("04", "fourth", execution="exec_1"))
    write(tmp_path, "orchestrator", record("02", "second", execution="exec_1"), record("03", "third", execution="exec_2"))
    return tmp_path


def show_logs(folder: Path, *options: str) -> list[str]:
    ended = ferryman("logs", *options, "--data", folder, data=folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.splitlines()


def test_the_lines_of_all_functions_come_in_the_order_of_time(folder: Path) -> None:
    order = ("first", "second", "third", "fourth")
    assert tuple(word for line in show_logs(folder) for word in line.split() if word in order) == order


def test_what_has_no_time_stays_behind_the_line_before_it(folder: Path) -> None:
    assert "Traceback of a library" in show_logs(folder)[1]


def test_one_function_is_shown_alone(folder: Path) -> None:
    assert {line.split()[1] for line in show_logs(folder, "orchestrator")} == {"orchestrator"}


def test_one_execution_is_shown_alone(folder: Path) -> None:
    lines = [json.loads(line) for line in show_logs(folder, "--execution", "exec_1", "--json")]
    assert [(line["function"], line["message"]) for line in lines] == [("orchestrator", "second"), ("api", "fourth")]


def test_a_function_that_has_no_log_is_answered_with_those_that_have(folder: Path) -> None:
    ended = ferryman("logs", "nobody", "--data", folder, data=folder)
    assert (ended.returncode, "api, orchestrator" in ended.stderr) == (1, True)


def test_what_comes_later_is_read_later_and_once(folder: Path) -> None:
    logs = find_logs(folder / "logs")
    assert len([*read_lines(logs)]) == 5
    write(folder, "api", record("05", "fifth"))
    assert [line.fields and line.fields["message"] for line in read_lines(logs)] == ["fifth"]


def test_a_line_that_is_still_being_written_is_left_for_later(tmp_path: Path) -> None:
    path = tmp_path / "api.log"
    path.write_text('{"message": "whole"}\n{"mess')
    log = LogFile(path)
    assert [line.text for line in log.read()] == ['{"message": "whole"}']
    path.write_text('{"message": "whole"}\n{"message": "rest"}\n')
    assert [line.text for line in log.read()] == ['{"message": "rest"}']


def test_a_log_that_begins_again_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "api.log"
    path.write_text("old and long\n")
    log = LogFile(path)
    assert [line.text for line in log.read()] == ["old and long"]
    path.write_text("new\n")
    assert [line.text for line in log.read()] == ["new"]


def test_a_line_without_end_costs_a_part_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "api.log"
    path.write_text("x" * (2 * LOG_LINE_BYTES_MAX) + "\n")
    assert [len(line.text) for line in LogFile(path).read()] == [LOG_LINE_BYTES_MAX, LOG_LINE_BYTES_MAX, 0]


@given(content=st.binary(max_size=400))
def test_whatever_a_process_writes_is_read_in_order(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("logs") / "api.log"
    path.write_bytes(content + b"\n")
    lines = [*LogFile(path).read()]
    assert [line.time for line in lines] == sorted(line.time for line in lines)
    assert len(lines) == (content + b"\n").count(b"\n")


def test_controls_do_not_reach_the_terminal(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    write(tmp_path, "api", "\x1b]0;owned\x07", record("01", "\x1b[2J"))
    assert "\x1b" not in "".join(show_logs(tmp_path))

"""A stack in the background, looked at and ended by the commands for it, and a folder on which none runs."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ferryman.stack import environment
from tests.cli.test_up import ferryman
from tests.journeys.conftest import ENDS_S, FERRYMAN

FUNCTIONS = {row["name"] for row in environment.load_functions()}


@pytest.fixture(scope="module")
def background(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    """A stack that was started with `ferryman up &`: its folder, and its process."""
    data = tmp_path_factory.mktemp("background") / "data"
    with subprocess.Popen([FERRYMAN, "up", "--data", data, "--json"], stdout=subprocess.PIPE, start_new_session=True) as up:
        assert up.stdout is not None
        assert up.stdout.readline()
        yield data, up
        up.terminate()
        up.wait(ENDS_S)


def test_it_is_shown_with_its_functions(background: tuple[Path, subprocess.Popen[bytes]]) -> None:
    data, up = background
    ended = ferryman("status", "--json", data=data)
    document = json.loads(ended.stdout)
    assert (ended.returncode, document["pid"]) == (0, up.pid)
    assert {(row["name"], row["state"]) for row in document["functions"]} == {(name, "running") for name in FUNCTIONS}


def test_its_functions_are_connected_before_the_first_request(background: tuple[Path, subprocess.Popen[bytes]]) -> None:
    data, _ = background
    rows = json.loads(ferryman("status", "--json", data=data).stdout)["functions"]
    libraries = {row["name"]: "".join(maps(worker) for worker in workers(row["pid"])) for row in rows}
    assert {name for name, mapped in libraries.items() if "cygrpc" in mapped} == FUNCTIONS


def test_what_an_execution_logged_is_shown_by_its_id(background: tuple[Path, subprocess.Popen[bytes]]) -> None:
    data, _ = background
    options = ("--name", "hello", "--model", "scripted/hello", "--prompt", "Hello.", "--tool", "http_get")
    task = ferryman("task", "create", *options, "--integration", "coingecko", data=data).stdout.strip()
    events = [json.loads(line) for line in ferryman("run", task, "--json", data=data).stdout.splitlines()]
    execution = events[-1]["execution_id"]
    lines = [json.loads(line) for line in ferryman("logs", "--execution", execution, "--json", data=data).stdout.splitlines()]
    assert {line["execution"] for line in lines} == {execution}
    assert {"orchestrator", "http_get"} <= {line["function"] for line in lines}


def test_it_is_ended_from_another_terminal(background: tuple[Path, subprocess.Popen[bytes]]) -> None:
    data, up = background
    ended = ferryman("down", "--json", data=data)
    assert (ended.returncode, json.loads(ended.stdout)["ended"]) == (0, up.pid)
    assert up.wait(ENDS_S) == 0
    assert ferryman("status", data=data).returncode == 1


def test_where_none_runs_nothing_is_ended(tmp_path: Path) -> None:
    ended = ferryman("down", "--data", tmp_path / "none", data=tmp_path)
    assert (ended.returncode, "no stack runs on" in ended.stdout) == (0, True)
    assert not (tmp_path / "none").exists()


def test_a_killed_stacks_number_is_no_reason_to_end_who_has_it_now(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "process.json").write_text(json.dumps({"pid": os.getpid(), "started": "long ago"}))
    ended = ferryman("down", "--data", tmp_path, "--json", data=tmp_path)
    assert (ended.returncode, json.loads(ended.stdout)["ended"]) == (0, None)


def workers(leader: int) -> list[int]:
    """Return the processes that a process has started."""
    return [int(pid) for pid in Path(f"/proc/{leader}/task/{leader}/children").read_text().split()]


def maps(process: int) -> str:
    return Path(f"/proc/{process}/maps").read_text()

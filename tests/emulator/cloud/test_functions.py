"""Functions as processes: started, found, ended, and never left behind."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from emulator import guard
from emulator.functions import FunctionFailedError, Functions
from emulator.leftovers import ProcessRecords
from emulator.ports import Ports
from emulator.table import read_table
from emulator.web import listen, port_of


@pytest.fixture
async def functions(table: Path, source: Path, tmp_path: Path) -> AsyncIterator[Functions]:
    folder = tmp_path / "data"
    folder.mkdir()
    ports = Ports(folder / "ports.json")
    run = Functions(read_table(table), source=source, folder=folder, ports=ports)
    await run.start()
    yield run
    await run.close()
    ports.close()


async def ask(functions: Functions, name: str = "echo") -> dict[str, object]:
    async with httpx.AsyncClient(trust_env=False) as client:
        answer: dict[str, object] = (await client.post(functions.url(name), content=b"hello")).json()
    return answer


async def test_a_function_answers_as_soon_as_it_is_run(functions: Functions) -> None:
    status = await functions.run("echo", {"GIVEN": "1"})
    assert (status["state"], status["url"]) == ("running", functions.url("echo"))
    assert (await ask(functions))["body"] == "hello"


async def test_its_environment_holds_what_was_given_and_nothing_of_ours(
    functions: Functions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY_OF_MINE", "secret")
    await functions.run("echo", {"GIVEN": "1"})
    env = (await ask(functions))["env"]
    assert isinstance(env, dict)
    assert (env["GIVEN"], env["CLOUD_RUN_TIMEOUT_SECONDS"]) == ("1", "77")
    assert "A_KEY_OF_MINE" not in env


async def test_to_run_it_again_replaces_it(functions: Functions) -> None:
    first = await functions.run("echo", {"GIVEN": "1"})
    second = await functions.run("echo", {"GIVEN": "2"})
    assert first["pid"] != second["pid"]
    assert first["url"] == second["url"]
    env = (await ask(functions))["env"]
    assert isinstance(env, dict)
    assert env["GIVEN"] == "2"


async def test_one_that_does_not_come_up_says_why(functions: Functions) -> None:
    with pytest.raises(FunctionFailedError, match="no such luck"):
        await functions.run("broken", {})
    assert functions.status("broken")["state"] == "died"


async def test_a_killed_one_is_dead_with_its_workers(functions: Functions) -> None:
    await functions.run("echo", {})
    worker = (await ask(functions))["pid"]
    assert await functions.kill("echo")
    assert functions.status("echo")["state"] == "died"
    with pytest.raises(httpx.ConnectError):
        await ask(functions)
    assert isinstance(worker, int)
    await wait_for_end(worker)
    assert not await functions.kill("echo")


async def test_a_stopped_one_is_stopped(functions: Functions) -> None:
    await functions.run("echo", {})
    assert await functions.stop("echo")
    assert functions.status("echo")["state"] == "stopped"
    assert not await functions.stop("echo")


def test_the_guard_kills_what_outlives_the_emulator() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True)
    command = [sys.executable, "-I", "-S", guard.__file__]
    subprocess.run(command, input=f"+{process.pid}\n+1234567\n-1234567\n".encode(), check=True)
    assert process.wait(10) == -signal.SIGKILL
    assert process.stdin
    process.stdin.close()


async def test_what_a_killed_run_left_is_ended(functions: Functions, tmp_path: Path) -> None:
    await functions.run("echo", {})
    worker = (await ask(functions))["pid"]
    ended = await ProcessRecords(tmp_path / "data" / "processes.json").end_leftovers()
    assert len(ended) == 1
    assert isinstance(worker, int)
    await wait_for_end(worker)


async def test_a_stranger_that_got_the_number_of_a_function_is_left_alone(tmp_path: Path) -> None:
    stranger = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "input()", stdin=subprocess.PIPE, start_new_session=True
    )
    notes = ProcessRecords(tmp_path / "processes.json")
    notes.add(stranger.pid, [sys.executable, "-m", "functions_framework"])
    assert await ProcessRecords(tmp_path / "processes.json").end_leftovers() == []
    assert stranger.returncode is None
    await stranger.communicate(b"\n")
    assert stranger.returncode == 0


async def test_ports_are_the_same_again(tmp_path: Path) -> None:
    first = Ports(tmp_path / "ports.json")
    port = first.hold("echo")
    first.close()
    again = Ports(tmp_path / "ports.json")
    assert again.hold("echo") == port
    again.close()


def test_a_port_that_is_held_is_bound_by_nobody_else(tmp_path: Path) -> None:
    ports = Ports(tmp_path / "ports.json")
    port = ports.hold("echo")
    with pytest.raises(OSError, match="cannot be had"):
        listen(port)
    ports.release("echo")
    with listen(port) as function:
        function.listen()
        ports.secure("echo")
    with pytest.raises(OSError, match="cannot be had"):
        listen(port)
    ports.close()


async def test_the_port_of_a_function_that_died_is_bound_by_nobody_else(functions: Functions) -> None:
    await functions.run("echo", {})
    url = httpx.URL(str(functions.status("echo")["url"]))
    await functions.kill("echo")
    with pytest.raises(OSError, match="cannot be had"):
        listen(url.port or 0)
    assert (await functions.run("echo", {}))["state"] == "running"


async def test_ports_that_cannot_be_read_are_forgotten(tmp_path: Path) -> None:
    for text in ('{"echo": 4', "[]", '{"echo": "x"}'):
        (tmp_path / "ports.json").write_text(text)
        ports = Ports(tmp_path / "ports.json")
        assert ports.hold("echo") > 0
        ports.close()


async def test_a_port_that_somebody_took_meanwhile_is_replaced(tmp_path: Path) -> None:
    first = Ports(tmp_path / "ports.json")
    port = first.hold("echo")
    first.close()
    with listen(port) as listener:
        listener.listen()
        again = Ports(tmp_path / "ports.json")
        assert again.hold("echo") != port
        with pytest.raises(OSError, match=f"port {port} .* cannot be had"):
            again.hold("grpc", port_of(listener))
        again.close()


async def wait_for_end(pid: int) -> None:
    """Wait until a process has ended; a test that waits in vain is ended by the timeout."""
    async with asyncio.timeout(10):
        with suppress(ProcessLookupError):
            while not _is_zombie(pid):
                os.kill(pid, 0)
                await asyncio.sleep(0)


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False

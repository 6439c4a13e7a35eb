"""`python -m emulator`, as a shell starts it and other programs find it."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from emulator import parent
from emulator.access import find_token

Start = Callable[..., Awaitable[asyncio.subprocess.Process]]
ROOT = Path(__file__).resolve().parents[3]
PARENT = """
import subprocess, sys
subprocess.Popen([sys.executable, "-m", "emulator", *sys.argv[1:]], stdin=subprocess.PIPE).wait()
"""
"""A program that starts the command, with a pipe as its input."""


@pytest.fixture
async def start(table: Path, source: Path) -> AsyncIterator[Start]:
    """Starts the command; what is still running at the end is killed."""
    started = []

    async def begin(*more: str, parent: bool = False) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *(("-c", PARENT) if parent else ("-m", "emulator"))),
            *("--functions", str(table), "--source", str(source), *more),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=ROOT,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def exported(process: asyncio.subprocess.Process) -> dict[str, str]:
    """Return the variables it prints once it answers."""
    assert process.stdout
    variables = {}
    while "LOCAL_CLOUD_ADMIN" not in variables:
        line = (await process.stdout.readline()).decode()
        assert line.startswith("export "), line
        key, _, value = line.removeprefix("export ").rstrip().partition("=")
        variables[key] = value
    return variables


def bearer(env: dict[str, str]) -> dict[str, str]:
    return {"Authorization": f"Bearer {find_token(env)}"}


async def run_echo(env: dict[str, str]) -> dict[str, Any]:
    admin = env["LOCAL_CLOUD_ADMIN"]
    async with httpx.AsyncClient(base_url=admin, trust_env=False, timeout=60, headers=bearer(env)) as client:
        url = (await client.put("/functions/echo", json={"env": {}})).json()["url"]
        answer: dict[str, Any] = (await client.get(url)).json()
        return answer


async def wait_for_end(pid: int) -> None:
    async with asyncio.timeout(20):
        while _alive(pid):  # noqa: ASYNC110 - it is nobody's child here, so there is nothing to wait on
            await asyncio.sleep(0.01)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        # One that nobody has collected yet is dead all the same.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z" if sys.platform == "linux" else True
    except OSError:
        return False


async def test_it_prints_what_it_writes_to_the_ready_file(start: Start, tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    process = await start("--memory", "--project", "a-project", "--ready-file", str(ready))
    printed = await exported(process)
    written = json.loads(ready.read_text())
    assert printed == {**written["env"], "LOCAL_CLOUD_ADMIN": written["admin"]}
    assert (written["pid"], written["project"]) == (process.pid, "a-project")
    assert set(written["functions"]) == {"echo", "broken", "seen"}
    process.send_signal(signal.SIGINT)
    assert await process.wait() == 0
    assert not ready.exists()


@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT", "shutdown"])
async def test_its_end_is_the_end_of_its_functions(start: Start, how: str) -> None:
    process = await start("--memory")
    env = await exported(process)
    worker = await run_echo(env)
    if how == "shutdown":
        async with httpx.AsyncClient(trust_env=False) as client:
            await client.post(f"{env['LOCAL_CLOUD_ADMIN']}/shutdown", headers=bearer(env))
    else:
        process.send_signal(signal.Signals[how])
    assert await process.wait() == 0
    assert process.stderr
    assert await process.stderr.read() == b""
    await wait_for_end(worker["pid"])


async def test_functions_die_with_an_emulator_that_is_killed(start: Start, tmp_path: Path) -> None:
    process = await start("--data", str(tmp_path / "data"))
    worker = await run_echo(await exported(process))
    process.kill()
    await process.wait()
    await wait_for_end(worker["pid"])
    await wait_for_end(worker["parent"])
    again = await start("--data", str(tmp_path / "data"))
    assert (await run_echo(await exported(again)))["pid"] != worker["pid"]


async def test_a_second_one_on_the_same_data_is_refused(start: Start, tmp_path: Path) -> None:
    first = await start("--data", str(tmp_path / "data"))
    await exported(first)
    second = await start("--data", str(tmp_path / "data"))
    _, output = await second.communicate()
    assert second.returncode == 1
    assert f"{tmp_path / 'data'} is in use by another local cloud (process {first.pid})".encode() in output


async def test_a_busy_port_is_named(start: Start) -> None:
    first = await start("--memory")
    port = (await exported(first))["FIRESTORE_EMULATOR_HOST"].rpartition(":")[2]
    second = await start("--memory", "--port", port)
    _, output = await second.communicate()
    assert second.returncode == 1
    assert f"port {port} of 127.0.0.1 cannot be had".encode() in output


async def test_a_table_that_cannot_be_read_is_named(start: Start, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    process = await start("--memory", "--functions", str(wrong))
    _, output = await process.communicate()
    assert process.returncode == 1
    assert b"wrong.json is not a table of functions: the table.functions is missing" in output


@pytest.mark.official
async def test_googles_emulator_dies_with_one_that_is_killed(start: Start) -> None:
    process = await start("--memory", "--firestore", "official")
    port = (await exported(process))["FIRESTORE_EMULATOR_HOST"].rpartition(":")[2]
    assert await is_taken(int(port))
    process.kill()
    await process.wait()
    async with asyncio.timeout(20):
        while await is_taken(int(port)):  # noqa: ASYNC110 - it is nobody's child here, so there is nothing to wait on
            await asyncio.sleep(0.01)


async def is_taken(port: int) -> bool:
    """Say whether somebody listens there."""
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True


async def test_a_file_of_indexes_is_wanted_and_none_serves_every_query(start: Start, tmp_path: Path) -> None:
    process = await start("--memory", "--indexes", str(tmp_path / "missing.json"))
    _, output = await process.communicate()
    assert process.returncode == 1
    assert b"missing.json" in output
    await exported(await start("--memory", "--indexes", "none", "--permissions", "off"))


async def test_it_ends_with_its_functions_when_its_parent_is_killed(start: Start, tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    options = ("--with-parent", "--data", str(tmp_path / "data"), "--ready-file", str(ready))
    process = await start(*options, parent=True)
    worker = (await run_echo(await exported(process)))["pid"]
    emulator = json.loads(ready.read_text())["pid"]
    process.kill()
    await wait_for_end(emulator)
    await wait_for_end(worker)


def test_what_is_given_to_end_in_order_and_then_by_force_is_less_than_two_seconds() -> None:
    assert parent.ENDS_S < 2

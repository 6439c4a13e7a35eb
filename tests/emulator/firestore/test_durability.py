"""Durability: what was acknowledged is there after the process died at any line."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest
from google.api_core import exceptions
from google.cloud import firestore

from emulator.firestore import FirestoreEmulator

from .conftest import connected, serving

SERVER = """
import asyncio, pathlib, sys
import grpc
from emulator.firestore import FirestoreEmulator

async def main():
    firestore = FirestoreEmulator(path=pathlib.Path(sys.argv[1]))
    await firestore.start()
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((firestore.handler(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    sys.stdout.write(f"{port}\\n")
    sys.stdout.flush()
    await server.wait_for_termination()

asyncio.run(main())
"""


async def test_kill_9_under_load_loses_no_acknowledged_write(tmp_path: Path, clock) -> None:
    path, acknowledged = tmp_path / "data.sqlite", []
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVER, str(path), stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[3]
    )
    assert process.stdout is not None
    port = int(await process.stdout.readline())

    async with connected(f"127.0.0.1:{port}", "p") as client:

        async def write(worker: int) -> None:
            for n in range(10_000):
                await client.document(f"c/{worker}-{n}").create({"n": n}, retry=None)
                acknowledged.append(f"{worker}-{n}")
                if len(acknowledged) == 300:
                    process.send_signal(signal.SIGKILL)

        ended = await asyncio.gather(*(write(worker) for worker in range(8)), return_exceptions=True)
        assert all(isinstance(end, exceptions.GoogleAPICallError) for end in ended), ended
    assert await process.wait() == -signal.SIGKILL

    async with serving(path, clock=clock) as served, connected(served.address, "p") as client:
        names = {s.id async for s in client.collection("c").stream()}
    assert names >= set(acknowledged)
    assert len(acknowledged) >= 300


async def test_documents_keep_their_times_over_a_restart(tmp_path: Path, clock) -> None:
    path = tmp_path / "data.sqlite"
    async with serving(path, clock=clock) as served, connected(served.address, "p") as client:
        await client.document("c/d").set({"a": [1, {"b": b"x"}]})
        before = await client.document("c/d").get()
    async with serving(path, clock=clock) as served, connected(served.address, "p") as client:
        after = await client.document("c/d").get()
    assert (after.to_dict(), after.create_time, after.update_time) == (
        before.to_dict(),
        before.create_time,
        before.update_time,
    )


async def test_a_deleted_document_stays_deleted_over_a_restart(tmp_path: Path, clock) -> None:
    path = tmp_path / "data.sqlite"
    async with serving(path, clock=clock) as served, connected(served.address, "p") as client:
        await client.document("c/d").set({})
        await client.document("c/d").delete()
    async with serving(path, clock=clock) as served, connected(served.address, "p") as client:
        assert not (await client.document("c/d").get()).exists


async def test_time_does_not_run_backwards_over_a_restart(tmp_path: Path, clock) -> None:
    path, start = tmp_path / "data.sqlite", clock.now
    async with serving(path, clock=clock) as served, connected(served.address, "p") as client:
        for _ in range(5):
            await client.document("c/d").set({"at": firestore.SERVER_TIMESTAMP})
        last = await client.document("c/d").delete()
    clock.now = start
    async with serving(path, clock=clock) as served, connected(served.address, "p") as client:
        assert (await client.document("c/e").set({})).update_time > last


async def test_a_read_of_what_was_before_the_restart_is_refused_not_wrong(tmp_path: Path, clock) -> None:
    path = tmp_path / "data.sqlite"
    async with serving(path, clock=clock) as served, connected(served.address, "p") as client:
        first = await client.document("c/d").set({"n": 1})
        await client.document("c/d").set({"n": 2})
    async with serving(path, clock=clock) as served, connected(served.address, "p") as client:
        with pytest.raises(exceptions.FailedPrecondition):
            await client.document("c/d").get(read_time=first.update_time)


async def test_a_second_one_on_the_same_file_says_so_and_refuses(tmp_path: Path, clock) -> None:
    path = tmp_path / "data.sqlite"
    async with serving(path, clock=clock):
        with pytest.raises(RuntimeError, match="in use by another process"):
            await FirestoreEmulator(path=path).start()


async def test_the_file_is_readable_by_its_owner_alone(tmp_path: Path, clock) -> None:
    path = tmp_path / "data" / "data.sqlite"
    async with serving(path, clock=clock) as served, connected(served.address, "p") as client:
        await client.document("c/d").set({})
        assert {file.name: oct(file.stat().st_mode & 0o077) for file in path.parent.iterdir()} == {
            "data.sqlite": "0o0",
            "data.sqlite-wal": "0o0",
        }

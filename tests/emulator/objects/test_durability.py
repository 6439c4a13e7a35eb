"""What was acknowledged is there after a restart, an upload goes on after one, and memory does not grow with an object."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tracemalloc
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from emulator.clock import EmulatorClock
from emulator.objects.contents import CHUNK, ContentWriter, locate
from emulator.objects.errors import StorageError
from emulator.objects.store import SCHEMA, ObjectStore
from emulator.objects.storing import store_content
from emulator.objects.values import ObjectAbout, Segment, StoredObject
from emulator.storage import open_store

from .conftest import BUCKET, CALLERS, run_store

MIB = 1024 * 1024


def test_objects_and_generations_survive_a_restart(tmp_path: Path) -> None:
    with run_store(tmp_path) as store:
        store.google().create_bucket(BUCKET)
        blob = store.google("files").bucket(BUCKET).blob("a")
        blob.metadata = {"a": "b"}
        blob.upload_from_string(b"1" * MIB, content_type="text/plain; charset=utf-8")
    with run_store(tmp_path) as store:
        again = store.google("files").bucket(BUCKET).get_blob("a")
        assert (again.generation, again.metadata, again.content_type) == (
            blob.generation,
            {"a": "b"},
            "text/plain; charset=utf-8",
        )
        assert again.download_as_bytes() == b"1" * MIB


SERVER = """
import asyncio, sys
from pathlib import Path
from emulator.clock import EmulatorClock
from emulator.objects import ObjectStoreEmulator
from emulator.web import Web, port_of
from tests.emulator.objects.conftest import CALLERS

async def serve():
    service, web = ObjectStoreEmulator(path=Path(sys.argv[1]), clock=EmulatorClock()), Web()
    port = port_of(web.add(service.app(CALLERS["operator"], {})))
    await service.start()
    await web.start()
    print(port, flush=True)
    await asyncio.Event().wait()

asyncio.run(serve())
"""
ACKNOWLEDGED = 40


async def test_kill_9_under_load_loses_no_acknowledged_object(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", SERVER, str(tmp_path), stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[3]
    )
    assert process.stdout is not None
    url = f"http://127.0.0.1:{int(await process.stdout.readline())}"
    headers = {"Authorization": f"Bearer {CALLERS['operator'].token.value}"}
    acknowledged: list[str] = []
    async with httpx.AsyncClient(base_url=url, headers=headers, trust_env=False, timeout=60) as client:
        (await client.post("/storage/v1/b?project=p", json={"name": BUCKET})).raise_for_status()

        async def write(worker: int) -> None:
            for number in range(10_000):
                name = f"{worker}-{number}"
                path = f"/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={name}"
                (await client.post(path, content=name.encode() * CHUNK)).raise_for_status()
                acknowledged.append(name)
                if len(acknowledged) == ACKNOWLEDGED:
                    process.send_signal(signal.SIGKILL)

        ended = await asyncio.gather(*(write(worker) for worker in range(8)), return_exceptions=True)
        assert all(isinstance(end, httpx.TransportError) for end in ended), ended
    assert await process.wait() == -signal.SIGKILL

    store = ObjectStore(open_store(tmp_path, "objects", SCHEMA), EmulatorClock())
    store.tidy()
    await store.contents.collect()
    for name in acknowledged:
        stored = store.find(BUCKET, name)
        assert stored is not None
        content = b"".join([data async for data in store.contents.read(stored.segments, 0, stored.size)])
        assert content == name.encode() * CHUNK
    store.close()
    assert len(acknowledged) >= ACKNOWLEDGED


def test_a_generation_is_more_than_the_last_even_where_the_clock_went_back(tmp_path: Path) -> None:
    with run_store(tmp_path) as store:
        store.clock.advance(timedelta(days=30))
        store.google().create_bucket(BUCKET)
        first = store.google("files").bucket(BUCKET).blob("a")
        first.upload_from_string(b"1")
    with run_store(tmp_path) as store:
        second = store.google("files").bucket(BUCKET).blob("a")
        second.upload_from_string(b"2")
    assert second.generation == first.generation + 1


def test_an_upload_goes_on_after_a_restart(tmp_path: Path) -> None:
    content = os.urandom(3 * CHUNK + 5)
    with run_store(tmp_path) as store:
        store.google().create_bucket(BUCKET)
        client = store.google("files")
        session = client.bucket(BUCKET).blob("a").create_resumable_upload_session(size=len(content))
        half = {"Content-Range": f"bytes 0-{2 * CHUNK - 1}/{len(content)}"}
        answer = client._http.put(session, data=content[: 2 * CHUNK], headers=half, timeout=30)
        assert (answer.status_code, answer.headers["range"]) == (308, f"bytes=0-{2 * CHUNK - 1}")
        before = store.urls["files"]
    with run_store(tmp_path) as store:
        client = store.google("files")
        session = session.replace(before, store.urls["files"])
        status = client._http.put(session, headers={"Content-Range": f"bytes */{len(content)}"}, timeout=30)
        assert (status.status_code, status.headers["range"]) == (308, f"bytes=0-{2 * CHUNK - 1}")
        rest = {"Content-Range": f"bytes {2 * CHUNK}-{len(content) - 1}/{len(content)}"}
        assert client._http.put(session, data=content[2 * CHUNK :], headers=rest, timeout=30).status_code == 200
        assert client.bucket(BUCKET).blob("a").download_as_bytes(checksum="md5") == content


def test_a_piece_that_was_sent_twice_counts_once() -> None:
    content = os.urandom(2 * CHUNK)
    with run_store() as store:
        store.google().create_bucket(BUCKET)
        client = store.google("files")
        session = client.bucket(BUCKET).blob("a").create_resumable_upload_session()
        for end in (CHUNK, CHUNK, 2 * CHUNK):
            total = end if end == 2 * CHUNK else "*"
            span = {"Content-Range": f"bytes 0-{end - 1}/{total}"}
            status = client._http.put(session, data=content[:end], headers=span, timeout=30).status_code
        assert (status, client.bucket(BUCKET).blob("a").download_as_bytes()) == (200, content)


async def test_what_is_replaced_or_deleted_leaves_no_bytes(objects: ObjectStore) -> None:
    def put(size: int) -> StoredObject:
        writer = ContentWriter(objects.contents)
        writer.write(b"x" * size)
        about = ObjectAbout(content_type="text/plain")
        nothing = {"check": lambda current: None, "digests": {}}
        return store_content(objects, writer, bucket="b", name="a", about=about, **nothing)

    first, second = put(3 * CHUNK), put(CHUNK + 1)
    await objects.contents.collect()
    sizes = [objects.contents.measure(stored.segments[0].content) for stored in (first, second)]
    assert sizes == [0, CHUNK + 1]
    objects.remove(second)
    await objects.contents.collect()
    assert objects.contents.measure(second.segments[0].content) == 0


async def test_what_is_refused_leaves_no_bytes(objects: ObjectStore) -> None:
    writer = ContentWriter(objects.contents)
    writer.write(b"x" * 2 * CHUNK)
    about = ObjectAbout(content_type="text/plain")
    with pytest.raises(StorageError, match="CRC32C"):
        store_content(
            objects, writer, bucket="b", name="a", about=about, check=lambda current: None, digests={"crc32c": "AAAAAA=="}
        )
    await objects.contents.collect()
    assert objects.contents.measure(writer.number) == 0


@pytest.fixture
async def objects(tmp_path: Path) -> AsyncIterator[ObjectStore]:
    store = ObjectStore(open_store(tmp_path, "objects", SCHEMA), EmulatorClock())
    store.add_bucket("b", "p", "here")
    yield store
    store.close()


async def test_a_content_that_is_read_is_deleted_afterwards(objects: ObjectStore) -> None:
    writer = ContentWriter(objects.contents)
    writer.write(b"x" * 3 * CHUNK)
    segment, _ = writer.finish()
    with objects.contents.keep([segment]):
        objects.contents.kill([segment.content])
        await objects.contents.collect()
        assert objects.contents.measure(segment.content) == 3 * CHUNK
    await objects.contents.collect()
    assert objects.contents.measure(segment.content) == 0


async def test_a_start_deletes_what_nothing_refers_to(objects: ObjectStore) -> None:
    writer = ContentWriter(objects.contents)
    writer.write(b"x" * 2 * CHUNK)
    objects.tidy()
    await objects.contents.collect()
    assert objects.contents.measure(writer.number) == 0


async def test_memory_does_not_grow_with_an_object(objects: ObjectStore) -> None:
    tracemalloc.start()
    try:
        writer, piece = ContentWriter(objects.contents), os.urandom(64 * 1024)
        for _ in range(32 * 16):
            writer.write(piece)
        segment, _ = writer.finish()
        size = 0
        async for data in objects.contents.read([segment], 0, segment.size):
            size += len(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size == 32 * MIB
    assert peak < 4 * MIB


def test_a_part_over_segments_is_found() -> None:
    segments = [Segment(content=1, size=CHUNK + 10), Segment(content=2, size=5), Segment(content=3, size=CHUNK)]
    assert list(locate(segments, CHUNK + 8, CHUNK + 17)) == [(1, 1, 8, 10), (2, 0, 0, 5), (3, 0, 0, 2)]
    whole = list(locate(segments, 0, 2 * CHUNK + 15))
    assert sum(last - first for _, _, first, last in whole) == 2 * CHUNK + 15

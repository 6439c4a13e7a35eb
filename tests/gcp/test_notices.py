"""Notices: a watcher is told of each change of its execution and of its calls, and of nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest

from emulator.firestore import SERVER_OPTIONS, FirestoreEmulator
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.notices import FirestoreNotices
from ferryman.settings import Settings

FOREVER_S = 3_600.0
EXECUTION, CALL, OTHER = "executions/e1", "executions/e1/calls/00000", "executions/e2/calls/00000"


@pytest.fixture
async def client() -> AsyncIterator[FirestoreClient]:
    """A client of a Firestore of its own."""
    firestore = FirestoreEmulator(path=None, indexes=None)
    server = grpc.aio.server(options=(*SERVER_OPTIONS, ("grpc.so_reuseport", 0)))
    server.add_generic_rpc_handlers((firestore.handler(),))
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await firestore.start()
    await server.start()
    opened = FirestoreClient(Settings(project="notices", firestore_host=address))
    try:
        yield opened
    finally:
        await opened.close()
        await server.stop(None)
        await firestore.close()


@pytest.fixture
def notices(client: FirestoreClient) -> FirestoreNotices:
    return FirestoreNotices(client, poll_s=FOREVER_S)


async def write(client: FirestoreClient, path: str, number: int) -> None:
    await client.firestore().document(path).set({"number": number})


@pytest.mark.parametrize("path", [EXECUTION, CALL])
async def test_a_change_is_told(client: FirestoreClient, notices: FirestoreNotices, path: str) -> None:
    await write(client, path, 1)
    async with notices.follow("e1") as notice:
        await notice.wait(FOREVER_S)  # that it is followed from now on
        await write(client, path, 2)
        await notice.wait(FOREVER_S)


async def test_a_document_that_is_new_or_gone_is_a_change(client: FirestoreClient, notices: FirestoreNotices) -> None:
    async with notices.follow("e1") as notice:
        await notice.wait(FOREVER_S)
        await write(client, CALL, 1)
        await notice.wait(FOREVER_S)
        await client.firestore().document(CALL).delete()
        await notice.wait(FOREVER_S)


async def test_nothing_is_told_while_nothing_happens(client: FirestoreClient, notices: FirestoreNotices) -> None:
    async with notices.follow("e1") as notice:
        await notice.wait(FOREVER_S)
        await write(client, OTHER, 1)
        await write(client, "executions/e2", 1)
        await write(client, CALL, 1)
        await notice.wait(FOREVER_S)
        # a stream tells in the order of the commits
        assert notices._followed["e1"][0].number == 2


async def test_watchers_of_one_execution_share_a_stream_and_each_is_told(
    client: FirestoreClient, notices: FirestoreNotices
) -> None:
    async with notices.follow("e1") as first, notices.follow("e1") as second:
        await asyncio.gather(first.wait(FOREVER_S), second.wait(FOREVER_S))
        await write(client, EXECUTION, 1)
        await asyncio.gather(first.wait(FOREVER_S), second.wait(FOREVER_S))
        assert len(notices._followed) == 1
    assert not notices._followed


async def test_a_target_that_the_server_removes_ends_its_stream_at_once(client: FirestoreClient) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.Event().wait()

    notices = FirestoreNotices(client, poll_s=0.5, sleep=sleep)
    async with notices.follow("__reserved__") as notice:  # no document may have this id: the server follows nothing
        await notice.wait(FOREVER_S)
    assert pauses == [0.5]


async def test_where_there_is_no_stream_watchers_look_at_the_pace_of_the_settings() -> None:
    pauses = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    class Broken:
        def firestore(self) -> None:
            raise OSError("there is no store")

    notices = FirestoreNotices(Broken(), poll_s=0.5, sleep=sleep)  # type: ignore[arg-type] # all that is used of a client
    async with notices.follow("e1") as notice:
        for _ in range(3):
            await notice.wait(FOREVER_S)
    assert {*pauses} == {0.5}

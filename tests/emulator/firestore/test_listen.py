"""Listening: the sync client's on_snapshot hears of changes, and goes on after a restart."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from google.cloud import firestore
from google.cloud.firestore import AsyncClient, FieldFilter

from .conftest import Served, connected, serving

Heard = asyncio.Queue[list[tuple[str, str]]]


@asynccontextmanager
async def listening(address: str, project: str, target: Any) -> AsyncIterator[Heard]:
    """Collect what on_snapshot of target(client) reports, as lists of (kind of change, document id)."""
    loop, heard = asyncio.get_running_loop(), Heard()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("FIRESTORE_EMULATOR_HOST", address)
        client = firestore.Client(project=project)
        transport = client._firestore_api.transport

    def tell(_: Any, changes: Any, __: Any) -> None:
        loop.call_soon_threadsafe(heard.put_nowait, [(change.type.name, change.document.id) for change in changes])

    watch = target(client).on_snapshot(tell)
    try:
        yield heard
    finally:
        await asyncio.to_thread(watch.unsubscribe)
        transport.close()


async def after(heard: Heard) -> list[tuple[str, str]]:
    async with asyncio.timeout(30):
        return await heard.get()


async def test_a_document_is_followed_from_its_creation_to_its_deletion(served: Served, client: AsyncClient) -> None:
    async with listening(served.address, client.project, lambda c: c.document("c/d")) as heard:
        assert await after(heard) == []
        await client.document("c/d").set({"n": 1})
        assert await after(heard) == [("ADDED", "d")]
        await client.document("c/d").set({"n": 2})
        assert await after(heard) == [("MODIFIED", "d")]
        await client.document("c/d").delete()
        assert await after(heard) == [("REMOVED", "d")]


async def test_a_query_is_told_what_enters_and_leaves_it(served: Served, client: AsyncClient) -> None:
    await client.document("c/a").set({"n": 1})

    def positive(c: firestore.Client) -> Any:
        return c.collection("c").where(filter=FieldFilter("n", ">", 0))

    async with listening(served.address, client.project, positive) as heard:
        assert await after(heard) == [("ADDED", "a")]
        await client.document("c/b").set({"n": -1})
        await client.document("other/c").set({"n": 1})
        await client.document("c/a").set({"n": -1})
        assert await after(heard) == [("REMOVED", "a")]
        await client.document("c/b").set({"n": 5})
        assert await after(heard) == [("ADDED", "b")]


async def test_a_limited_query_is_told_who_moves_up(served: Served, client: AsyncClient) -> None:
    for n in range(3):
        await client.document(f"c/{n}").set({"n": n})
    target = lambda c: c.collection("c").order_by("n").limit(2)  # noqa: E731 - as short as its use
    async with listening(served.address, client.project, target) as heard:
        assert await after(heard) == [("ADDED", "0"), ("ADDED", "1")]
        await client.document("c/0").delete()
        assert await after(heard) == [("REMOVED", "0"), ("ADDED", "2")]


async def test_listening_goes_on_after_a_restart(tmp_path: Path, clock) -> None:
    path = tmp_path / "data.sqlite"
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    address = f"127.0.0.1:{port}"
    async with serving(path, clock=clock, port=port), connected(address, "p") as client:
        await client.document("c/a").set({"n": 1})
        await client.document("c/b").set({"n": 1})
        # The listener outlives this server.
        listener = listening(address, "p", lambda c: c.collection("c"))
        heard = await listener.__aenter__()
        assert await after(heard) == [("ADDED", "a"), ("ADDED", "b")]
    try:
        async with serving(path, clock=clock) as served, connected(served.address, "p") as client:
            await client.document("c/a").delete()
            await client.document("c/d").set({"n": 1})
        async with serving(path, clock=clock, port=port):
            assert await after(heard) == [("REMOVED", "a"), ("ADDED", "d")]
            await listener.__aexit__(None, None, None)
    except BaseException:
        await listener.__aexit__(None, None, None)
        raise

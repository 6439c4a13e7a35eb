"""Notices: Firestore tells of changes over one stream for each execution that is watched in a process (Listen).

A poll reads whether there is anything new or not, and is billed for each read; a listener is billed for the documents that
change, and tells of them at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.places import Places
from ferryman.gcp.wire import get_path
from ferryman.ports.notices import Notice

CALLS = "calls"
"""The collection of an execution's calls, which are settled without a change of the execution itself."""

EXECUTION_TARGET, CALLS_TARGET = 1, 2
CHANGES = ("document_change", "document_delete", "document_remove")


class FollowedExecution:
    """An execution with its watchers, and how many changes of it were told."""

    def __init__(self) -> None:
        self.watchers = 0
        self.number = 0
        self._changed = asyncio.Event()

    def tell(self) -> None:
        """Wake all who wait."""
        self.number += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self, number: int, seconds: float) -> int:
        """Wait for a change after `number`, so many seconds at most; return the number of the last one."""
        if number == self.number:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
        return self.number


class FirestoreNotice:
    """`ports.Notice`."""

    def __init__(self, followed: FollowedExecution) -> None:
        self._followed, self._seen = followed, followed.number

    async def wait(self, seconds: float) -> bool:
        before, self._seen = self._seen, await self._followed.wait(self._seen, seconds)
        return self._seen != before


class FirestoreNotices:
    """`ports.Notices`. Where a stream breaks, watchers look every `poll_s` seconds until there is another."""

    def __init__(
        self, clients: FirestoreClient, *, poll_s: float, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._clients = clients
        self._poll_s, self._sleep = poll_s, sleep
        self._followed: dict[str, tuple[FollowedExecution, asyncio.Task[None]]] = {}

    @asynccontextmanager
    async def follow(self, execution: str) -> AsyncIterator[Notice]:
        if execution not in self._followed:
            begun = FollowedExecution()
            self._followed[execution] = begun, asyncio.create_task(self._listen(execution, begun))
        followed, listening = self._followed[execution]
        followed.watchers += 1
        try:
            yield FirestoreNotice(followed)
        finally:
            followed.watchers -= 1
            if not followed.watchers:
                del self._followed[execution]
                listening.cancel()
                await asyncio.wait([listening])

    async def _listen(self, execution: str, followed: FollowedExecution) -> None:
        while True:
            # whatever ends a stream, its library included: watchers then look as often as if there were none
            with suppress(Exception):
                await self._read_stream(execution, followed)
            followed.tell()
            await self._sleep(self._poll_s)

    async def _read_stream(self, execution: str, followed: FollowedExecution) -> None:
        """Tell of changes until the stream ends, or the server removes a target from it: of that nothing more would come."""
        client: Any = self._clients.firestore()
        requests = _iterate_requests(client, get_path(Places(client).locate_execution(execution)))
        stream = await client._firestore_api.listen(requests=requests, metadata=client._rpc_metadata)
        initial = {EXECUTION_TARGET, CALLS_TARGET}
        """The targets whose present documents have not all been told yet: these are no change."""
        async for answer in stream:
            opened = answer._pb
            if opened.WhichOneof("response_type") in CHANGES and not initial:
                followed.tell()
            elif opened.target_change.target_change_type == opened.target_change.REMOVE:
                return
            elif opened.target_change.target_change_type == opened.target_change.CURRENT:
                initial -= {*opened.target_change.target_ids}
                if not initial:
                    followed.tell()  # of what changed between a watcher's first look and now


async def _iterate_requests(client: Any, path: str) -> AsyncIterator[Any]:
    """Yield what is listened to, and nothing more: the stream lives as long as its requests do."""
    from google.cloud.firestore_v1.types import firestore, query

    database = client._database_string
    documents = firestore.Target.DocumentsTarget(documents=[path])
    calls = query.StructuredQuery(from_=[query.StructuredQuery.CollectionSelector(collection_id=CALLS)])
    below = firestore.Target.QueryTarget(parent=path, structured_query=calls)
    for target in (
        firestore.Target(documents=documents, target_id=EXECUTION_TARGET),
        firestore.Target(query=below, target_id=CALLS_TARGET),
    ):
        yield firestore.ListenRequest(database=database, add_target=target)
    await asyncio.Event().wait()

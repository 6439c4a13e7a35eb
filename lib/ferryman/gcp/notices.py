"""Notices: Firestore tells of changes over one stream for each execution that is watched in a process (Listen).

A poll reads whether there is anything new or not, and is billed for each read; a listener is billed for the documents that
change, and tells of them at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from ferryman.domain.conversations.live import LiveTurn
from ferryman.gcp import documents
from ferryman.gcp.firestore import FirestoreClient
from ferryman.gcp.places import Places
from ferryman.gcp.wire import decode, get_path
from ferryman.ports.notices import Notice

CALLS = "calls"
"""The collection of an execution's calls, which are settled without a change of the execution itself."""

EXECUTION_TARGET, CALLS_TARGET = 1, 2
CHANGES = ("document_change", "document_delete", "document_remove")


class FollowedExecution:
    """An execution with its watchers, its turn under way, and how many changes of the rest were told."""

    def __init__(self) -> None:
        self.watchers = 0
        self.number = 0
        self.live: LiveTurn | None = None
        self.wakings = 0
        """How often all who wait were woken, for a change of either."""
        self._changed = asyncio.Event()

    def tell(self) -> None:
        """Wake all who wait: the record may have changed."""
        self.number += 1
        self._wake()

    def show(self, turn: LiveTurn | None) -> None:
        """Wake all who wait: this is the turn under way."""
        if turn != self.live:
            self.live = turn
            self._wake()

    async def wait(self, wakings: int, seconds: float) -> None:
        """Wait for a change after so many, so many seconds at most."""
        if wakings == self.wakings:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._changed.wait()

    def _wake(self) -> None:
        self.wakings += 1
        self._changed.set()
        self._changed = asyncio.Event()


class FirestoreNotice:
    """`ports.Notice`."""

    def __init__(self, followed: FollowedExecution) -> None:
        self._followed = followed
        self._number, self._wakings = followed.number, followed.wakings

    @property
    def live(self) -> LiveTurn | None:
        return self._followed.live

    async def wait(self, seconds: float) -> bool:
        followed, before = self._followed, self._number
        await followed.wait(self._wakings, seconds)
        self._number, self._wakings = followed.number, followed.wakings
        return self._number != before


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
            followed.show(None)
            followed.tell()
            await self._sleep(self._poll_s)

    async def _read_stream(self, execution: str, followed: FollowedExecution) -> None:
        """Tell of changes until the stream ends, or the server removes a target from it: of that nothing more would come."""
        client: Any = self._clients.firestore()
        places = Places(client)
        live = get_path(places.locate_live(execution))
        requests = _iterate_requests(client, get_path(places.locate_execution(execution)), live)
        stream = await client._firestore_api.listen(requests=requests, metadata=client._rpc_metadata)
        initial = {EXECUTION_TARGET, CALLS_TARGET}
        """The targets whose present documents have not all been told yet: these are no change."""
        async for answer in stream:
            opened = answer._pb
            kind = opened.WhichOneof("response_type")
            if kind in CHANGES and _name_document(opened, kind) == live:
                followed.show(_read_live(opened.document_change.document) if kind == "document_change" else None)
            elif kind in CHANGES:
                if not initial:
                    followed.tell()
            elif opened.target_change.target_change_type == opened.target_change.REMOVE:
                return
            elif opened.target_change.target_change_type == opened.target_change.CURRENT:
                initial -= {*opened.target_change.target_ids}
                if not initial:
                    followed.tell()  # of what changed between a watcher's first look and now


def _name_document(opened: Any, kind: str) -> str:
    changed = getattr(opened, kind).document
    return str(changed.name if kind == "document_change" else changed)


def _read_live(document: Any) -> LiveTurn:
    return documents.read(LiveTurn, {name: decode(value) for name, value in document.fields.items()})


async def _iterate_requests(client: Any, path: str, live: str) -> AsyncIterator[Any]:
    """Yield what is listened to, and nothing more: the stream lives as long as its requests do."""
    from google.cloud.firestore_v1.types import firestore, query

    database = client._database_string
    documents = firestore.Target.DocumentsTarget(documents=[path, live])
    calls = query.StructuredQuery(from_=[query.StructuredQuery.CollectionSelector(collection_id=CALLS)])
    below = firestore.Target.QueryTarget(parent=path, structured_query=calls)
    for target in (
        firestore.Target(documents=documents, target_id=EXECUTION_TARGET),
        firestore.Target(query=below, target_id=CALLS_TARGET),
    ):
        yield firestore.ListenRequest(database=database, add_target=target)
    await asyncio.Event().wait()

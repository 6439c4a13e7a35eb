"""Listening: targets whose documents a client follows, and what it is told when they change."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import suppress
from typing import Any, Protocol

from .databases import Database, Databases
from .errors import StatusError, invalid
from .history import History, Version
from .notices import document_change, document_gone, removed, resume_point, target_change
from .paths import check_document
from .store import DocumentStore

FIRST_TARGET = 1


class Scope(Protocol):
    """What a target follows."""

    @property
    def windowed(self) -> bool: ...

    def covers(self, name: str) -> bool: ...
    def matches(self, version: Version) -> bool: ...
    def run(self, at: int) -> list[Version]: ...


class NamedDocuments:
    """A scope of documents by their names."""

    windowed = False

    def __init__(self, history: History, names: list[str]) -> None:
        for name in names:
            check_document(history.database, name)
        self._history = history
        self.names = names

    def covers(self, name: str) -> bool:
        return name in self.names

    def matches(self, version: Version) -> bool:
        return version.name in self.names

    def run(self, at: int) -> list[Version]:
        return [version for name in self.names if (version := self._history.get(name, at)) is not None]


class Target:
    """One target: what it follows, and the moment (micros) of each document's version that the client has."""

    def __init__(self, number: int, scope: Scope, known: dict[str, int]) -> None:
        self.number = number
        self.scope = scope
        self.known = known

    def news(self, history: History, at: int, changed: set[str] | None = None) -> Iterator[Any]:
        """Yield what brings the client up to a moment; with the changed names, only they are looked at where that suffices."""
        if changed is None or self.scope.windowed:
            present = {version.name: version for version in self.scope.run(at)}
            names = [*self.known.keys() - present.keys(), *present]
        else:
            names = [name for name in changed if self.scope.covers(name)]
            versions = [history.get(name, at) for name in names]
            present = {v.name: v for v in versions if v is not None and self.scope.matches(v)}
        for name in names:
            version = present.get(name)
            if version is not None and self.known.get(name) != version.at:
                self.known[name] = version.at
                yield document_change(self.number, version)
            elif version is None and self.known.pop(name, None) is not None:
                yield document_gone(self.number, name, at, deleted=history.get(name, at) is None)


class ListenStream:
    """One Listen stream. Everything it says is computed without waiting, so no commit can fall between."""

    def __init__(self, store: DocumentStore, database: Database) -> None:
        self._store = store
        self._database = database
        self._history = database.history
        self._targets: dict[int, Target] = {}

    def hear(self, request: Any) -> Iterator[Any]:
        """Yield the answers to a request."""
        match request.WhichOneof("target_change"):
            case "add_target":
                try:
                    yield from self._add(request.add_target)
                except StatusError as error:
                    yield removed(request.add_target.target_id, error)
            case "remove_target":
                self._targets.pop(request.remove_target, None)
                yield removed(request.remove_target)

    def follow(self, changed: set[str]) -> Iterator[Any]:
        """Yield the notices that commits which changed these documents cause."""
        at, has_news = self._store.now(), False
        for target in self._targets.values():
            if any(target.scope.covers(name) for name in changed):
                for response in target.news(self._history, at, changed):
                    has_news = True
                    yield response
        if has_news:
            yield target_change("NO_CHANGE", at=at)

    def _add(self, target: Any) -> Iterator[Any]:
        number, at = target.target_id or FIRST_TARGET, self._store.now()
        match target.WhichOneof("target_type"):
            case "query":
                scope: Scope = self._database.query(target.query.parent, target.query.structured_query)
            case "documents":
                scope = NamedDocuments(self._history, list(target.documents.documents))
            case _:
                raise invalid("A target has neither a query nor documents.")
        yield target_change("ADD", number)
        known: dict[str, int] = {}
        resumed = resume_point(target)
        if resumed is not None and self._history.horizon <= resumed <= at:
            known = {version.name: version.at for version in scope.run(resumed)}
        elif resumed is not None:
            # What the client has seen is forgotten here: it drops all it has and gets everything anew.
            yield target_change("RESET", number)
        target = self._targets[number] = Target(number, scope, known)
        yield from target.news(self._history, at)
        if isinstance(scope, NamedDocuments) and resumed is None:
            for name in scope.names:
                if name not in target.known:
                    yield document_gone(number, name, at, deleted=True)
        yield target_change("CURRENT", number, at=at)
        yield target_change("NO_CHANGE", at=at)


class Listening:
    """Listen."""

    def __init__(self, store: DocumentStore, databases: Databases) -> None:
        self._store = store
        self._databases = databases

    async def listen(self, requests: AsyncIterator[Any]) -> AsyncGenerator[Any]:
        first = await anext(aiter(requests), None)
        if first is None:
            return
        conversation = ListenStream(self._store, self._databases.find(first.database))
        inbox: asyncio.Queue[Any] = asyncio.Queue()
        changed: set[str] = set()

        def wake(names: set[str]) -> None:
            if not changed:
                inbox.put_nowait(changed)
            changed.update(names)

        wakers = self._store.wakers.setdefault(first.database, set())
        wakers.add(wake)
        inbox.put_nowait(first)
        reader = asyncio.create_task(forward(requests, inbox))
        try:
            while (heard := await inbox.get()) is not None:
                if heard is changed:
                    names, _ = set(changed), changed.clear()
                    news = conversation.follow(names)
                else:
                    news = conversation.hear(heard)
                for response in list(news):
                    yield response
        finally:
            wakers.discard(wake)
            reader.cancel()
            with suppress(asyncio.CancelledError):
                await reader


async def forward(requests: AsyncIterator[Any], inbox: asyncio.Queue[Any]) -> None:
    """Put every request into the inbox, and None when the client has said its last."""
    try:
        async for request in requests:
            inbox.put_nowait(request)
    finally:
        inbox.put_nowait(None)

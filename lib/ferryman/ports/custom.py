"""What the custom tools ask of the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from ferryman.domain.connection import Connection
from ferryman.domain.declared import Cluster, Declared
from ferryman.domain.token import Fetch, Slot, Token


class Clusters(Protocol):
    """A task's declared tools, by cluster; names are unique over all of them.

    `put` stores `tools` as the cluster `name` in place of what it held, at once; it raises `Stale` when the task is gone, or
    the cluster is not of the generation `since` (0: not there), and `Invalid` for what the task's other clusters do not admit.
    `delete` tells whether it was there.
    """

    async def list(self, task: str) -> Sequence[Cluster]: ...
    async def put(self, task: str, name: str, tools: Sequence[Declared], *, since: int) -> Cluster: ...
    async def delete(self, task: str, name: str) -> bool: ...
    async def tools(self, task: str) -> Sequence[Declared]: ...
    async def find(self, task: str, tool: str) -> Declared | None: ...


class Connections(Protocol):
    """The consents that are waited for, by task and digest.

    `put` first removes what has run out; it raises `Stale` when the task is gone or has `most` under way. `take` answers one
    and removes it: each is taken once, whoever asks at the same time.
    """

    async def put(self, connection: Connection, *, now: datetime, most: int) -> None: ...
    async def take(self, task: str, digest: str) -> Connection | None: ...


class Connector(Protocol):
    """Has a key holder exchange a code for a token, and store what it is given, sealed to key `version`.

    Raises `Unconnected` with what the owner is told, or `Unavailable`.
    """

    async def finish(self, task: str, *, owner: str, digest: str, code: str, version: int) -> str: ...


class Documents(Protocol):
    """Has a key holder fetch a document, with those it refers to, through the gate, for the owner of `task`.

    Answers their texts by URL; raises `Invalid` with what the owner is told, or `Unavailable`.
    """

    async def fetched(self, task: str, *, owner: str, url: str) -> Mapping[str, str]: ...


class Tokens(Protocol):
    """Fetched tokens, sealed, each under a key that tells whose it is and what for; and who fetches one just now.

    `take` is one transaction: where there is no good token (one that has expired, or that the fetch `stale` brought, is
    dropped) and nobody else at work, the caller's `fetch` is; it answers what stands there then, so that `fetch` in it tells
    who is to fetch. `put` stores what a fetch brought and ends it; it raises `Stale`, with nothing stored, when another has
    taken over. `leave` ends a fetch that brought nothing. `list` answers what is kept by key: what a task's credentials
    brought, and what the owner got without any.
    """

    async def get(self, key: str) -> Slot | None: ...
    async def list(self, owner: str, task: str) -> Mapping[str, Slot]: ...
    async def take(self, key: str, owner: str, task: str, fetch: Fetch, *, stale: str | None, now: datetime) -> Slot: ...
    async def put(self, key: str, token: Token) -> None: ...
    async def leave(self, key: str, fetch: str) -> None: ...

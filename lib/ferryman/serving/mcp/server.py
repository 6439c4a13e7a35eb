"""What an MCP server is made of: the application gives these, the engine speaks the protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request

from ferryman.domain.mcp_codes import ErrorCode
from ferryman.ports.clock import Clock
from ferryman.serving.mcp.errors import McpError
from ferryman.serving.mcp.exchange import McpExchange
from ferryman.serving.mcp.results import Notification, Result
from ferryman.serving.mcp.session_log import SessionLog

BODY_BYTES_MAX = 1_000_000
LISTEN_S_MAX = 300.0
STREAM_AFTER_S = 5.0
"""After how many seconds a request without a result is answered with an event stream, whose comments keep it open."""

Method = Callable[[McpExchange], Awaitable[Result]]


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a subscription was granted: the part of the filter that is honoured, and its notifications until it ends.

    `filter` has the members of the protocol's `SubscriptionFilter`, and `taskIds`. The engine drops notifications that it does
    not cover.
    """

    filter: Mapping[str, Any]
    notifications: AsyncGenerator[Notification, None]


async def accept_anyone(_: Request, __: bytes) -> Any:
    """Return None: a server without authentication, for tests."""
    return None


def hide_error(_: Exception, __: McpExchange | None) -> McpError:
    """Return what a client learns of an unexpected exception: nothing but that it happened."""
    return McpError(ErrorCode.INTERNAL_ERROR, "something went wrong on our side")


@dataclass(frozen=True, kw_only=True, eq=False)
class McpServer:
    """An MCP server, as `respond` serves it. One object serves all requests of a process.

    `capabilities` is the server's own object for server/discover and initialize (`legacy_capabilities` for the latter,
    where it differs by more than extensions and streams of changes); `methods` holds the methods of both eras, by name,
    `legacy_methods` those that only clients of 2025 call. server/discover, initialize, ping and subscriptions/listen are
    the engine's. `authenticate` is given the request and its body before anything of it is read, and returns the caller; it
    raises `HTTPException` (401 and 403 with their headers). `principal` names a caller for good: sessions and states are
    bound to it. `find_schema` returns a tool's input schema, whose `x-mcp-header` are then held against the headers, or
    None. `listen` grants a subscription, `listen_s_max` seconds long at most. `hosts` are the names that this server has,
    without port, where web pages might reach it under another (DNS rebinding); None where the platform in front sees to it.
    `origins` are those of web pages that may ask, apart from pages of `hosts`. `session_keys` returns the keys of sessions
    of 2025, the first one signs; without it there are none, and clients of 2025 are taken to have no capabilities.
    `translate` says what a client learns of an exception that a method raised, and logs it. `receive_answer` is given the
    session and what a client of 2025 answers to a request of the server's (`McpExchange.send`).
    """

    name: str
    version: str
    clock: Clock
    title: str = ""
    instructions: str = ""
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    legacy_capabilities: Mapping[str, Any] | None = None
    methods: Mapping[str, Method] = field(default_factory=dict)
    legacy_methods: Mapping[str, Method] = field(default_factory=dict)
    authenticate: Callable[[Request, bytes], Awaitable[Any]] = accept_anyone
    principal: Callable[[Any], str] = str
    find_schema: Callable[[McpExchange, str], Awaitable[Mapping[str, Any] | None]] | None = None
    listen: Callable[[McpExchange, Mapping[str, Any]], Awaitable[Subscription]] | None = None
    listen_s_max: float = LISTEN_S_MAX
    session_keys: Callable[[], Awaitable[Sequence[bytes]]] | None = None
    hosts: Collection[str] | None = None
    origins: Collection[str] = ()
    translate: Callable[[Exception, McpExchange | None], McpError] = hide_error
    session_log: SessionLog | None = None
    receive_answer: Callable[[str, Mapping[str, Any]], Awaitable[None]] | None = None
    body_bytes_max: int = BODY_BYTES_MAX
    stream_after_s: float = STREAM_AFTER_S
    running: dict[tuple[str, str, str | int], asyncio.Task[None]] = field(default_factory=dict, init=False, repr=False)
    """Requests of 2025 that are under way in this process, by caller, session and id: they may be cancelled by name."""

    def describe(self) -> dict[str, Any]:
        """Return the `Implementation` that names this server."""
        described: dict[str, Any] = {"name": self.name, "version": self.version}
        if self.title:
            described["title"] = self.title
        return described

"""The client of one MCP server, in the revisions 2026-07-28 and 2025-11-25, over a transport: no store, no gate, no policy."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ferryman import offload
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.mcp_codes import ErrorCode
from ferryman.domain.mcp_revisions import LEGACY, MODERN, SERVER_INFO
from ferryman.domain.remote_servers.server import ServerInfo
from ferryman.tools.mcp.protocol.answer_reader import AnswerReader, OnProgress
from ferryman.tools.mcp.protocol.bounds import (
    ANSWER_BYTES_MAX,
    CALL_S,
    CURSOR_CHARACTERS_MAX,
    INSTRUCTIONS_CHARACTERS_MAX,
    LISTING_BYTES_MAX,
    LISTING_S,
    PAGES_MAX,
    SESSION_FRESH_S,
    SMALL_BYTES,
    TEXT_CHARACTERS_MAX,
    TOOLS_MAX,
    TTL_MS_MAX,
)
from ferryman.tools.mcp.protocol.conversation import OnElicitation, ProtocolRequest, ServerConversation
from ferryman.tools.mcp.protocol.descriptors import (
    RefusedTool,
    ServerToolListing,
    ToolDescriptor,
    read_descriptors,
    refuse_repeated_names,
)
from ferryman.tools.mcp.protocol.eras import CLIENT, ClientCapabilities
from ferryman.tools.mcp.protocol.errors import (
    AnswerTooLargeError,
    HttpStatusError,
    InvalidServerAnswerError,
    ServerError,
    SessionLostError,
    UnsupportedServerError,
)
from ferryman.tools.mcp.protocol.headers import write_parameter_headers
from ferryman.tools.mcp.protocol.results import (
    CallOutcome,
    Completed,
    RemoteTask,
    check_complete,
    read_call_result,
    read_completed,
    read_task,
)
from ferryman.tools.mcp.protocol.sessions import ClientSession, SessionCache
from ferryman.tools.mcp.protocol.transport import Transport

_MODERN_REFUSALS = frozenset((ErrorCode.HEADER_MISMATCH, ErrorCode.MISSING_CAPABILITY, ErrorCode.UNSUPPORTED_VERSION))
_LEGACY_STATUSES = frozenset((400, 404, 405, 406, 415, 422, 501))
"""HTTP statuses that a server of 2025 may answer a request of 2026 with."""


class McpClient:
    """A client of one server, for `owner`, whose answers are read in that owner's share of the workers.

    `revision` is the one that was agreed on last, None at first; the caller remembers it. `sessions` are those of 2025-11-25,
    under `session_key`: the server, and what authorizes the client there. `on_progress` is told reports of progress of calls,
    `on_elicitation` answers what a server of 2025-11-25 asks in the middle of one; without it, none is offered there.
    After any request, `server_info` and `instructions` have what the server says of itself.

    Every method raises `McpClientError`, and `CallRefusedError` where the transport does.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        owner: str,
        revision: str | None = None,
        sessions: SessionCache | None = None,
        session_key: str = "",
        capabilities: ClientCapabilities | None = None,
        on_progress: OnProgress | None = None,
        on_elicitation: OnElicitation | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.revision = revision if revision == MODERN or revision in LEGACY else None
        self.server_info = ServerInfo()
        self.instructions = ""
        self._owner, self._on_progress = owner, on_progress
        self._sessions = sessions or SessionCache()
        self._capabilities = capabilities or ClientCapabilities()
        offered = ClientCapabilities() if on_elicitation is None else self._capabilities
        self._offered = offered.declare(LEGACY[0])  # for as long as a session lasts
        self.session_key = f"{session_key}, {self._offered}"
        self._clock = self._sessions.clock
        self._conversation = ServerConversation(
            transport=transport,
            owner=owner,
            capabilities=self._capabilities,
            on_elicitation=on_elicitation,
            clock=self._clock,
            sleep=sleep,
        )

    @property
    def has_other_tools(self) -> bool:
        """Whether the server has said in any of its answers that its list of tools has changed."""
        return self._conversation.has_other_tools

    async def discover(self) -> None:
        """Negotiate a revision with the server, whatever was agreed on before. Nothing at the server changes by it."""
        self.revision = None
        self._sessions.forget(self.session_key)
        await self._agree()

    async def list_tools(self) -> ServerToolListing:
        """Return all tools of the server, every page of them."""
        ends_s, size, ttl_ms = self._clock() + LISTING_S, 0, TTL_MS_MAX
        tools, refused, cursors = list[ToolDescriptor](), list[RefusedTool](), set[str]()
        params: dict[str, Any] = {}
        for _ in range(PAGES_MAX):
            seconds, room = min(CALL_S, ends_s - self._clock()), LISTING_BYTES_MAX - size
            if seconds <= 0 or room <= 0:
                raise AnswerTooLargeError(f"the MCP server lists more than {LISTING_BYTES_MAX:,} bytes, or for too long")
            reader = await self._ask(ProtocolRequest(method="tools/list", params=params, bytes_max=room, within_s=seconds))
            result = _get_result(reader)
            check_complete(result)
            page = result.get("tools")
            if not isinstance(page, list) or len(page) + len(tools) + len(refused) > TOOLS_MAX:
                raise InvalidServerAnswerError(f"the MCP server lists something else than at most {TOOLS_MAX:,} tools")
            usable, unusable = await self._read_descriptors(page, reader.size_bytes)
            tools += usable
            refused += unusable
            size += reader.size_bytes
            ttl_ms = min(ttl_ms, _read_ttl(result))
            cursor = result.get("nextCursor")
            if cursor is None:
                return refuse_repeated_names(tools, refused, ttl_ms=ttl_ms)
            if not isinstance(cursor, str) or len(cursor) > CURSOR_CHARACTERS_MAX or cursor in cursors:
                raise InvalidServerAnswerError("the MCP server lists a page that follows itself, or no page of its own")
            cursors.add(cursor)
            params = {"cursor": cursor}
        raise AnswerTooLargeError(f"the MCP server lists more than {PAGES_MAX} pages")

    async def call_tool(
        self,
        tool: ToolDescriptor,
        arguments: Mapping[str, Any],
        *,
        input_responses: Mapping[str, Any] | None = None,
        request_state: str | None = None,
    ) -> CallOutcome:
        """Call `tool`, and return what came of it. It is sent once, whatever happens.

        `input_responses` and `request_state` answer a `NeedsInput` of the same call (2026-07-28). Raise `SessionLostError` and
        `UnwritableArgumentError` where nothing was executed.
        """
        params: dict[str, Any] = {"name": tool.name, "arguments": dict(arguments)}
        if input_responses is not None:
            params["inputResponses"] = dict(input_responses)
        if request_state is not None:
            params["requestState"] = request_state
        request = ProtocolRequest(
            method="tools/call",
            params=params,
            parameters=write_parameter_headers(tool.headers, arguments),
            bytes_max=ANSWER_BYTES_MAX,
            within_s=CALL_S,
            has_effect=True,
            on_progress=self._on_progress,
        )
        reader = await self._ask(request)
        result = _get_result(reader)
        outcome = read_call_result(result, self._capabilities) if self.revision == MODERN else read_completed(result)
        return replace(outcome, size_bytes=reader.size_bytes) if isinstance(outcome, Completed) else outcome

    async def get_task(self, task_id: str) -> RemoteTask:
        """Return the task as it is now (2026-07-28)."""
        request = ProtocolRequest(method="tasks/get", params={"taskId": task_id}, bytes_max=ANSWER_BYTES_MAX, within_s=CALL_S)
        result = await self._ask_about_task(request)
        task = read_task(result, self._capabilities)
        if task.id != task_id:
            raise InvalidServerAnswerError("the MCP server answered about another task")
        return task

    async def update_task(self, task_id: str, responses: Mapping[str, Any]) -> None:
        """Send the answers to what a task waits for, by key (2026-07-28)."""
        await self._ask_about_task(
            ProtocolRequest(method="tasks/update", params={"taskId": task_id, "inputResponses": dict(responses)})
        )

    async def cancel_task(self, task_id: str) -> None:
        """Tell the server that nobody waits for a task any longer (2026-07-28): it may go on all the same."""
        await self._ask_about_task(ProtocolRequest(method="tasks/cancel", params={"taskId": task_id}))

    async def _ask_about_task(self, request: ProtocolRequest) -> dict[str, Any]:
        await self._agree()
        if self.revision != MODERN:
            raise UnsupportedServerError("the MCP server speaks a revision of the protocol without tasks now")
        result = _get_result(await self._ask(request))
        check_complete(result)
        return result

    async def _read_descriptors(
        self, page: Sequence[Any], size_bytes: int
    ) -> tuple[Sequence[ToolDescriptor], Sequence[RefusedTool]]:
        if size_bytes <= SMALL_BYTES:
            return read_descriptors(page)
        try:
            return await offload.run(self._owner, offload.TEXT, read_descriptors, page)
        except (offload.OverBudgetError, offload.TooManyJobsError, offload.JobFailedError):
            raise AnswerTooLargeError("the MCP server lists tools that take too long to read") from None

    async def _ask(self, request: ProtocolRequest) -> AnswerReader:
        """Send a request, again where the server refused it unread and it has no effect; return its reader."""
        session = await self._agree(checked=request.has_effect)
        try:
            return await self._ask_once(request, session)
        except (HttpStatusError, ServerError) as error:
            is_lost = session is not None and session.id is not None and error.status == 404
            if is_lost and not (isinstance(error, ServerError) and error.code == ErrorCode.METHOD_NOT_FOUND):
                self._sessions.forget(self.session_key)
                if request.has_effect:
                    raise SessionLostError("the MCP server has ended its session, and did not execute the call") from None
            elif isinstance(error, ServerError) and error.code == ErrorCode.UNSUPPORTED_VERSION and session is None:
                self.revision = None
                if request.has_effect:
                    raise UnsupportedServerError("the MCP server has changed its revision of the protocol") from None
            else:
                raise
        return await self._ask_once(request, await self._agree())

    async def _ask_once(self, request: ProtocolRequest, session: ClientSession | None) -> AnswerReader:
        reader = await self._conversation.ask(request, session)
        if session is not None:
            self._sessions.put(self.session_key, session)
        self._note_server(_get_result(reader).get("_meta"))
        return reader

    async def _agree(self, *, checked: bool = False) -> ClientSession | None:
        """Return the session to ask in, None in 2026-07-28. `checked` asks whether one that was idle is there still."""
        if self.revision == MODERN:
            return None
        session = self._sessions.find(self.session_key)
        if session is None:
            return await self._begin()
        self.revision = session.revision
        is_fresh = session.id is None or self._clock() - session.used_s < SESSION_FRESH_S
        if checked and not is_fresh:
            with suppress(ServerError):  # an answer, too
                await self._ask(ProtocolRequest(method="ping"))
            session = self._sessions.find(self.session_key) or await self._begin()
        return session

    async def _begin(self) -> ClientSession | None:
        """Ask the server what it speaks, where that is not known or has changed; return the new session, None in 2026-07-28."""
        if self.revision is not None:
            try:
                return await self._initialize(self.revision)
            except (ServerError, HttpStatusError) as error:
                if isinstance(error, HttpStatusError) and error.status not in _LEGACY_STATUSES:
                    raise
                self.revision = None
        offered = await self._probe()
        if offered is None:
            self.revision = MODERN
            return None
        return await self._initialize(offered)

    async def _probe(self) -> str | None:
        """Return None where the server speaks 2026-07-28, and otherwise the revision to offer it at initialize."""
        try:
            reader = await self._conversation.ask(ProtocolRequest(method="server/discover"), None)
        except ServerError as error:
            if error.code == ErrorCode.UNSUPPORTED_VERSION:
                supported = error.data.get("supported") if isinstance(error.data, Mapping) else None
                is_known = isinstance(supported, list) and MODERN in supported  # refused once, and named all the same
                return None if is_known else _choose_legacy(supported)
            if error.code == ErrorCode.METHOD_NOT_FOUND and error.status == 404:
                return None  # of 2026, and without what it must have
            if error.code in _MODERN_REFUSALS:
                raise
            return LEGACY[0]
        except HttpStatusError as error:
            if error.status not in _LEGACY_STATUSES:
                raise
            return LEGACY[0]
        result = _get_result(reader)
        versions = result.get("supportedVersions")
        if not isinstance(versions, list):
            return LEGACY[0]
        self._note_server(result.get("_meta"))
        self._note_instructions(result)
        return None if MODERN in versions else _choose_legacy(versions)

    async def _initialize(self, revision: str) -> ClientSession:
        params = {
            "protocolVersion": revision,
            "capabilities": self._offered,
            "clientInfo": CLIENT,
        }
        reader = await self._conversation.initialize(ProtocolRequest(method="initialize", params=params))
        result = _get_result(reader)
        version = result.get("protocolVersion")
        if version not in LEGACY:
            raise UnsupportedServerError(f"the MCP server speaks none of the revisions {MODERN}, {', '.join(LEGACY)}")
        self.revision = version
        self._note_server({SERVER_INFO: result.get("serverInfo")})
        self._note_instructions(result)
        session = ClientSession(id=reader.session_id, revision=version)
        with suppress(CallRefusedError):  # whether the server took it, its answer to the next request tells
            await self._conversation.notify("notifications/initialized", None, session)
        self._sessions.put(self.session_key, session)
        return session

    def _note_server(self, meta: Any) -> None:
        info = meta.get(SERVER_INFO) if isinstance(meta, Mapping) else None
        if isinstance(info, Mapping):
            texts = {name: info.get(name) for name in ("name", "title", "version")}
            cut = {name: text[:TEXT_CHARACTERS_MAX] if isinstance(text, str) else "" for name, text in texts.items()}
            self.server_info = ServerInfo(**cut)

    def _note_instructions(self, result: Mapping[str, Any]) -> None:
        instructions = result.get("instructions")
        self.instructions = instructions[:INSTRUCTIONS_CHARACTERS_MAX] if isinstance(instructions, str) else ""


def _get_result(reader: AnswerReader) -> dict[str, Any]:
    assert reader.result is not None, "the reader has finished"
    return reader.result


def _choose_legacy(versions: Any) -> str:
    """Return the newest revision of 2025 that both sides speak. Raise `UnsupportedServerError`."""
    listed = versions if isinstance(versions, list) else []
    for revision in LEGACY:
        if revision in listed:
            return revision
    raise UnsupportedServerError(f"the MCP server speaks none of the revisions {MODERN}, {', '.join(LEGACY)}")


def _read_ttl(result: Mapping[str, Any]) -> int:
    """Return for how many milliseconds a listing is good; 0 where the server does not say."""
    ttl_ms = result.get("ttlMs")
    if isinstance(ttl_ms, bool) or not isinstance(ttl_ms, int | float) or not 0 <= ttl_ms <= TTL_MS_MAX:
        return 0
    return int(ttl_ms)

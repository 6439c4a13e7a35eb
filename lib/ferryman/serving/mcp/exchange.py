"""An exchange: one request of a client, with all that the protocol says about it, and what goes before its result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.mcp_revisions import MODERN, TASKS
from ferryman.serving.mcp.errors import refuse_capability, refuse_params

Message = Mapping[str, Any]


async def _discard(_: Message) -> None:
    pass


async def _do_nothing() -> None:
    pass


@dataclass(kw_only=True, eq=False)
class McpExchange:
    """A request as a method sees it. `params` are the client's, checked to be an object and nothing else.

    `revision` is the protocol's, `session` names a session of 2025 ("" in 2026). `capabilities` are those that the client
    declares. `input_responses` and `request_state` are the client's: neither is verified yet.
    """

    caller: Any
    principal: str
    id: str | int
    method: str
    params: Mapping[str, Any]
    revision: str = MODERN
    client_info: Mapping[str, Any] = field(default_factory=dict)
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    log_level: str | None = None
    """The level that the client asks for of a request of 2026; without it, it is sent no log messages."""
    session: str = ""
    progress_token: str | int | None = None
    input_responses: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    request_state: str | None = None
    emit: Callable[[Message], Awaitable[None]] = _discard
    end_stream: Callable[[], Awaitable[None]] = _do_nothing
    """Ends the connection of a client of 2025, which comes back for the rest, where the application keeps a log of sessions."""

    _progress: float | None = None

    @property
    def is_modern(self) -> bool:
        """Whether the request is of 2026-07-28."""
        return self.revision == MODERN

    @property
    def has_tasks(self) -> bool:
        """Whether the client declares the Tasks extension."""
        extensions = self.capabilities.get("extensions")
        return self.is_modern and isinstance(extensions, Mapping) and isinstance(extensions.get(TASKS), Mapping)

    def declares(self, name: str, mode: str = "") -> bool:
        """Say whether the client declares the capability `name`, and `mode` of it where one is named.

        `declares("elicitation", "url")`; an elicitation without modes is that of forms.
        """
        capability = self.capabilities.get(name)
        if not isinstance(capability, Mapping):
            return False
        if name == "elicitation" and mode == "form" and not capability:
            return True
        return not mode or isinstance(capability.get(mode), Mapping)

    def require(self, name: str, mode: str = "") -> None:
        """Raise `McpError` with -32021 unless the client `declares` it."""
        if not self.declares(name, mode):
            raise refuse_capability({name: {mode: {}} if mode else {}})

    def require_tasks(self) -> None:
        """Raise `McpError` with -32021 unless the client declares the Tasks extension."""
        if not self.has_tasks:
            raise refuse_capability({"extensions": {TASKS: {}}})

    def get_text(self, name: str, *, longest: int = 4_096) -> str:
        """Return the parameter `name`. Raise `McpError` with -32602 unless it is a text of 1 to `longest` characters."""
        value = self.params.get(name)
        if not isinstance(value, str) or not 0 < len(value) <= longest:
            raise refuse_params(f"{name} must be a text of 1 to {longest:,} characters")
        return value

    def get_object(self, name: str) -> Mapping[str, Any]:
        """Return the parameter `name`, empty where it is absent. Raise `McpError` with -32602 unless it is an object."""
        value = self.params.get(name, {})
        if not isinstance(value, Mapping):
            raise refuse_params(f"{name} must be an object")
        return value

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell a client that asked for it how far the request is; what does not increase is not sent."""
        if self.progress_token is None or (self._progress is not None and progress <= self._progress):
            return
        self._progress = progress
        params: dict[str, Any] = {"progressToken": self.progress_token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        await self.notify("notifications/progress", params)

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification that belongs to this request. A client that takes no event stream is not sent it."""
        await self.send({"jsonrpc": "2.0", "method": method, "params": dict(params or {})})

    async def send(self, message: Message) -> None:
        """Send a JSON-RPC message before the result. Raise ValueError for a request, which only 2025 lets a server send."""
        if "id" in message and self.is_modern:
            raise ValueError("a server sends no requests in this revision")
        await self.emit(message)

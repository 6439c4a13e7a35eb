"""What came of a call at an MCP server, as its result: redacted, bounded and framed by the gate like every response."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ferryman.domain.calls import refusal
from ferryman.domain.calls.call import ToolCallResult
from ferryman.domain.calls.part import Part, PartKind
from ferryman.domain.calls.refusal import Refusal
from ferryman.domain.calls.suggestion import find_suggestion
from ferryman.domain.http.request import InboundResponse, Method, OutboundRequest
from ferryman.ports.gate import CallPolicy, StreamGate
from ferryman.tools.mcp.protocol.errors import (
    HttpStatusError,
    McpClientError,
    ServerError,
    SessionLostError,
    UnwritableArgumentError,
)
from ferryman.tools.mcp.protocol.rendering import render_error, render_off_loop
from ferryman.tools.mcp.protocol.results import Completed

TOOL_FAILED = "tool_failed"
"""The code of a call whose tool says itself that it failed."""

NOT_FOUND = 404
"""How a server of 2025-11-25 answers a call in a session that it has ended."""

SERVER_FAILED = "server_error"
"""The code of a call that the server answered with an error of the protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomePresenter:
    """Makes results of what the server at `url` says of a call of `tool`; `server` is its name.

    `credential` is the name of what authenticates the call, None for nothing.
    """

    gate: StreamGate
    call: CallPolicy = field(repr=False)
    tool: str
    server: str
    url: str = field(repr=False)
    credential: str | None = None

    async def present(self, completed: Completed, notices: tuple[str, ...] = ()) -> ToolCallResult:
        """Return the result of a call that is done, after the `notices`, sentences of ours about what happened meanwhile."""
        result = await self._present(await render_off_loop(self.call.execution.owner, completed))
        if completed.is_error and result.ok:
            result = replace(result, ok=False, code=TOOL_FAILED, suggestion=find_suggestion(TOOL_FAILED))
        return add_notices(result, notices)

    async def present_error(self, error: ServerError, notices: tuple[str, ...] = (), *, begun: bool = True) -> ToolCallResult:
        """Return the result of a call that the server answered with an error of the protocol; `begun` is of `build_failure`."""
        result = await self._present(render_error(error))
        failed = replace(result, ok=False, code=SERVER_FAILED, suggestion=find_suggestion(SERVER_FAILED))
        failed = replace(failed, response_status=error.status)
        if not begun:
            failed = replace(failed, blocked=True, block_reason=SERVER_FAILED)
        return add_notices(failed, notices)

    def build_failure(self, error: McpClientError, *, begun: bool) -> ToolCallResult:
        """Return the result of a call that has no answer; `begun` tells that the call itself was sent."""
        if isinstance(error, HttpStatusError):
            reason = replace(_refuse_status(self.server, error.status), blocked=not begun)
            return replace(self.build_refusal(reason), response_status=error.status)
        is_unsent = not begun or isinstance(error, UnwritableArgumentError)
        result = self.build_refusal(Refusal(reason="server_answer", message=f"Error: {error}", blocked=is_unsent))
        # that the server did nothing is its own word: the call was sent, and it has answered
        return replace(result, response_status=NOT_FOUND) if isinstance(error, SessionLostError) else result

    def build_refusal(self, reason: Refusal) -> ToolCallResult:
        """Return the result of a call that was refused, or that failed, by `reason`."""
        return ToolCallResult.from_refusal(
            self.tool, reason, url=self.url, method=Method.POST.value, credential=self.credential
        )

    async def _present(self, inbound: InboundResponse) -> ToolCallResult:
        outbound = OutboundRequest(tool=self.tool, method=Method.POST, url=self.url)
        return replace(await self.gate.present(outbound, self.call, inbound), credential_used=self.credential)


def add_notices(result: ToolCallResult, notices: tuple[str, ...]) -> ToolCallResult:
    """Return `result` with sentences of ours before what its server says."""
    if not notices:
        return result
    line = "".join(f"{notice}\n" for notice in notices)
    before = result.parts or ((Part(kind=PartKind.TEXT, start=0, end=len(result.content)),) if result.content else ())
    parts = [replace(part, start=part.start + len(line), end=part.end + len(line)) for part in before]
    return replace(result, content=line + result.content, parts=(Part(kind=PartKind.TEXT, start=0, end=len(line)), *parts))


def _refuse_status(server: str, status: int) -> Refusal:
    if status in (401, 403):
        return replace(refusal.refuse_unconnected_server(server), blocked=False)
    message = f"Error: the MCP server {server} answered with HTTP status {status}, and no result"
    return Refusal(reason="server_status", message=message, blocked=False)

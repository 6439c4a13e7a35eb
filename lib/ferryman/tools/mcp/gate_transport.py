"""The transport of MCP over the gate: every message is checked, pinned, scanned and bounded like any request that leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ferryman.domain.http.request import OutboundRequest, Text
from ferryman.ports.gate import CallPolicy, LongAnswer, ResponseReader, SendingState, StreamGate
from ferryman.tools.mcp.protocol.transport import HttpMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class GateTransport:
    """Sends messages to the server at `url` with the server's `headers`, whose placeholders the gate fills; `tool` is the name
    in the log, and in the catalog.

    `call` is the policy of the call of a tool. Other messages, which change nothing, have it too, but for `confirm`, and they
    are noted neither in `call.sending` nor in `call.long`.
    """

    gate: StreamGate
    url: str = field(repr=False)
    tool: str
    headers: Mapping[str, Text] = field(default_factory=dict, repr=False)
    call: CallPolicy

    async def exchange(self, message: HttpMessage, reader: ResponseReader) -> bool:
        """Send `message`, as `protocol.Transport` says. Raise `CallRefusedError`, and `UnavailableError` as the gate does."""
        outbound = OutboundRequest(
            tool=self.tool,
            method=message.method,
            url=self.url,
            fixed_headers={**message.headers, **self.headers},
            body=None if message.body is None else dict(message.body),
        )
        within_s = message.within_s if self.call.within_s is None else min(self.call.within_s, message.within_s)
        call = replace(self.call, within_s=within_s, body_max=message.bytes_max)
        if not message.has_effect:
            call = replace(call, confirm=None, sending=SendingState(), long=LongAnswer())
        inbound = await self.gate.stream(outbound, call, reader, idle_s=message.idle_s)
        return not inbound.cut

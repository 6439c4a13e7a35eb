"""The transport that the client needs: HTTP messages, each checked, sent and bounded by who implements it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ferryman.domain.http.request import Method
from ferryman.ports.gate import ResponseReader


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpMessage:
    """One HTTP request to the server's endpoint: the headers of the protocol, and a JSON body where it has one.

    Its response may have `bytes_max` bytes and take `within_s` seconds, of which at most `idle_s` pass in silence.
    `has_effect` tells that it is what a person approves and what must not be sent twice: a call of a tool.
    """

    method: Method = Method.POST
    headers: Mapping[str, str] = field(repr=False)
    body: Mapping[str, Any] | None = field(default=None, repr=False)
    bytes_max: int
    within_s: float
    idle_s: float
    has_effect: bool = False


class Transport(Protocol):
    """Sends messages to one server."""

    async def exchange(self, message: HttpMessage, reader: ResponseReader) -> bool:
        """Send `message` and have `reader` read the response; tell whether all of it was within `bytes_max`.

        Raise `CallRefusedError` where it was not sent, or its response did not come.
        """

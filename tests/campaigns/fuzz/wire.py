"""Wire: a connection without a network, whose other end says what it was given and then closes."""

from __future__ import annotations

import ssl
from collections.abc import Iterable

import httpcore

from ferryman.domain.http.address import Address


class Wire(httpcore.AsyncNetworkStream):
    """Keeps what is written to it; what is read comes in the given parts."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self._parts = [part for part in parts if part]
        self.written = bytearray()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - the seam's own signature
        if not self._parts:
            return b""
        part = self._parts.pop(0)
        if len(part) > max_bytes:
            self._parts.insert(0, part[max_bytes:])
        return part[:max_bytes]

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the seam's own signature
        self.written += buffer

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the seam's own signature
    ) -> httpcore.AsyncNetworkStream:
        return self

    async def aclose(self) -> None:
        pass

    def get_extra_info(self, info: str) -> object:
        return None


class Plug:
    """`Dialer` that plugs in one wire, whatever is dialled."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    async def dial(self, address: Address, port: int, *, timeout_s: float | None) -> httpcore.AsyncNetworkStream:
        return self._wire

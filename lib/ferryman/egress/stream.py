"""A TLS stream on an asyncio transport, which takes little more memory than what has arrived.

asyncio's own TLS reserves 256 KiB for each connection, and each read and write passes two transports.
"""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from typing import Any

import httpcore

BUFFERED_MAX = 262_144
"""Bytes that may have arrived and not been read; while there are more, the socket is not read."""

CHUNK_BYTES = 65_536
RECORD_BYTES = 16_384  # what one record of TLS may hold


class TlsStream(asyncio.Protocol, httpcore.AsyncNetworkStream):
    """httpcore's stream: connected, then `start_tls`, then read and written by one task at a time.

    Raise httpcore's errors. Only the connection itself has a timeout here; the caller bounds the rest.
    """

    def __init__(self) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls: ssl.SSLObject | None = None
        self.session: ssl.SSLSession | None = None
        """What `start_tls` offers to resume; a peer that does not is verified as any other."""
        self._transport: asyncio.Transport | None = None
        self._failure: Exception | None = None
        self._is_paused = False
        self._is_full = False
        self._waiter: asyncio.Future[None] | None = None

    @classmethod
    async def connect(cls, host: str, port: int, timeout_s: float | None) -> TlsStream:
        """Return a stream to an address; it is not looked up."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout_s):
                _, stream = await loop.create_connection(cls, host, port)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout from error
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        return stream

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002, ASYNC109 - the seam's own signature
    ) -> httpcore.AsyncNetworkStream:
        """Verify the peer, and return this stream, encrypted from now on."""
        self._tls = ssl_context.wrap_bio(self._incoming, self._outgoing, server_hostname=server_hostname, session=self.session)
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._flush()
                await self._wait()
            except (ssl.SSLError, OSError) as error:
                self._flush()  # an alert tells the peer why
                await self.aclose()
                raise httpcore.ConnectError(str(error)) from error
            else:
                self._flush()
                return self

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002, ASYNC109 - the seam's own signature
        """Return what has arrived, at most `max_bytes`, once there is something; nothing at the end."""
        while (content := self._take(max_bytes)) is None:
            await self._wait()
        return content

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002, ASYNC109 - the seam's own signature
        """Send `buffer`; return once the system has taken most of it."""
        assert self._tls is not None, "nothing is written in clear"
        for start in range(0, len(buffer), CHUNK_BYTES):
            if self._transport is None or self._transport.is_closing():
                raise httpcore.WriteError("the connection is closed")
            try:
                self._tls.write(memoryview(buffer)[start : start + CHUNK_BYTES])
            except ssl.SSLError as error:
                raise httpcore.WriteError(str(error)) from error
            self._flush()
            while self._is_full:
                await self._wait()

    async def aclose(self) -> None:
        """Close the connection; what was not sent yet is not sent any more."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if self._tls is not None and not transport.get_write_buffer_size():
            with suppress(ssl.SSLError):
                self._tls.unwrap()
            self._flush()
        if transport.get_write_buffer_size():
            transport.abort()
        else:
            transport.close()

    def get_extra_info(self, info: str) -> Any:
        """Return the peer's address and port for `server_addr`; for `is_readable`, whether something arrived that nobody asked
        for, the end included."""
        if info == "is_readable":
            return self._transport is None or self._transport.is_closing() or self._take(1) is not None
        if self._transport is None:
            return None
        if info == "server_addr":
            return self._transport.get_extra_info("peername")
        return self._tls if info == "ssl_object" else self._transport.get_extra_info(info)

    def _take(self, max_bytes: int) -> bytes | None:
        """Return decrypted bytes, b"" at the end, None where nothing more has arrived."""
        assert self._tls is not None, "nothing is read in clear"
        parts, size = list[bytes](), 0
        try:
            while size < max_bytes and (part := self._tls.read(min(RECORD_BYTES, max_bytes - size))):
                parts.append(part)
                size += len(part)
        except ssl.SSLWantReadError:
            if not parts:
                self._resume()
                if self._failure is not None:
                    raise httpcore.ReadError(str(self._failure)) from None
                return None
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            pass
        except (ssl.SSLError, OSError) as error:
            if not parts:
                raise httpcore.ReadError(str(error)) from error
        self._flush()  # an answer of the protocol's own, to a change of keys for instance
        self._resume()
        return b"".join(parts)

    def _flush(self) -> None:
        if self._outgoing.pending and self._transport is not None and not self._transport.is_closing():
            self._transport.write(self._outgoing.read())

    def _resume(self) -> None:
        if self._is_paused and self._incoming.pending < CHUNK_BYTES and self._transport is not None:
            self._is_paused = False
            if not self._transport.is_closing():
                self._transport.resume_reading()

    async def _wait(self) -> None:
        """Wait until something arrives, or the transport takes more."""
        assert self._waiter is None, "one task uses a stream at a time"
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport), "TCP"
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._incoming.write(data)
        if self._incoming.pending > BUFFERED_MAX and not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self._incoming.write_eof()
        self._wake()
        return False  # the transport is closed; what was received is still there to be read

    def connection_lost(self, exc: Exception | None) -> None:
        self._failure = exc
        self._is_full = False
        self._incoming.write_eof()
        self._wake()

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self._wake()

"""The body of a response, its content coding undone within a limit (protects against decompression bombs)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import brotli

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError

ACCEPT_ENCODING = "gzip, deflate, br"
"""What is asked for, in every request; nobody else sets it."""

_IDENTITY = ("", "identity")
_GZIP = ("gzip", "x-gzip")
_DEFLATE, _BROTLI = "deflate", "br"
_BROKEN = "the answer's content coding is broken"
STEP_BYTES = 65_536
"""Bytes that zlib makes in one step: at most a fifth of a millisecond."""

WIRE_BYTES_SPARE = 65_536  # bytes by which an honest body may be longer than what it decodes to
ZLIB_HEADER_BYTES = 2


class ResponseBody:
    """Collects at most `limit` decoded bytes. One coding at most: stacked ones, and others, can hide a bomb.

    `needs_worker` tells that `finish` belongs into a worker process. A decoder of brotli fills its window, which may have
    16 MiB, before it heeds a limit of its output: some bytes take a tenth of a second. So brotli is only collected here.
    """

    def __init__(self, coding: str, limit: int) -> None:
        coding = coding.strip().lower()
        if coding not in (*_IDENTITY, *_GZIP, _DEFLATE, _BROTLI):
            raise CallRefusedError(refusal.report_failure("the answer's content coding is not accepted"))
        self._is_plain = coding in _IDENTITY
        self._inflate = zlib.decompressobj(16 + zlib.MAX_WBITS) if coding in _GZIP else None
        self._packed = bytearray()  # all of brotli, and the beginning of deflate
        self._decoded = bytearray()
        self._limit = limit
        self._drained = 0
        self.received = 0
        self.needs_worker = coding == _BROTLI

    def feed(self, chunk: bytes) -> bool:
        """Take in a chunk as received, and tell whether more may follow. Raise `CallRefusedError` if it does not decode."""
        for _ in self.steps(chunk):
            pass
        return self.is_open

    def steps(self, chunk: bytes) -> Iterator[None]:
        """Take in a chunk as `feed` does, yielding between every two pieces: some bytes of gzip may decode to megabytes.

        What follows the end of a gzip or deflate stream is not read: zlib would keep all of it.
        """
        self.received += len(chunk)
        if self._is_plain:
            self._decoded += chunk[: self._room]
        elif self.needs_worker:
            self._packed += chunk[: self._packed_max + 1 - len(self._packed)]
        else:
            yield from self._inflate_steps(chunk)

    def _inflate_steps(self, chunk: bytes) -> Iterator[None]:
        if self._inflate is None:
            self._packed += chunk
            if len(self._packed) < ZLIB_HEADER_BYTES:
                return
            chunk = bytes(self._packed)
            self._inflate = zlib.decompressobj(zlib.MAX_WBITS if _has_zlib_header(chunk) else -zlib.MAX_WBITS)
            self._packed.clear()
        while True:
            try:
                self._decoded += self._inflate.decompress(chunk, min(self._room, STEP_BYTES))
            except zlib.error:
                raise CallRefusedError(refusal.report_failure(_BROKEN)) from None
            chunk = self._inflate.unconsumed_tail
            if not self.is_open or not chunk:
                break
            yield
        if not self.is_cut and self.received > self._packed_max:
            raise CallRefusedError(refusal.report_failure(_BROKEN))

    def finish(self) -> ResponseBody:
        """End the body, and return it. Raise `CallRefusedError` if the coding announced more, or does not decode."""
        if self.needs_worker:
            self._decode_brotli()
        elif not self._is_plain and self.received and not (self.is_cut or (self._inflate is not None and self._inflate.eof)):
            raise CallRefusedError(refusal.report_failure(_BROKEN))
        return self

    def _decode_brotli(self) -> None:
        decoder, packed = brotli.Decompressor(), bytes(self._packed)
        self._packed.clear()
        try:
            for start in range(0, len(packed), STEP_BYTES):
                self._decode_step(decoder, packed[start : start + STEP_BYTES])
                if self.is_cut or decoder.is_finished():
                    break
        except brotli.error:
            raise CallRefusedError(refusal.report_failure(_BROKEN)) from None
        if self.received and not (self.is_cut or decoder.is_finished()):
            raise CallRefusedError(refusal.report_failure(_BROKEN))
        del self._decoded[self._limit + 1 :]
        self.needs_worker = False

    def take(self) -> bytes:
        """Return the bytes that were decoded since the last time, and forget them; together at most `limit`."""
        part = bytes(memoryview(self._decoded)[: max(0, self._limit - self._drained)])
        self._drained += len(self._decoded)
        self._decoded.clear()
        return part

    def _decode_step(self, decoder: brotli.Decompressor, chunk: bytes) -> None:
        # it may hold output back although it accepts more input
        while True:
            decoded = decoder.process(chunk, output_buffer_limit=self._room)
            self._decoded += decoded
            chunk = b""
            if self.is_cut or decoder.is_finished() or (not decoded and decoder.can_accept_more_data()):
                return

    @property
    def is_open(self) -> bool:
        """Whether more may follow."""
        if self.needs_worker:
            return len(self._packed) <= self._packed_max
        return not self.is_cut and (self._inflate is None or not self._inflate.eof)

    @property
    def _packed_max(self) -> int:
        return self._limit + WIRE_BYTES_SPARE

    @property
    def _room(self) -> int:
        # One byte more than the limit tells a body that is too long from one that fits.
        return self._limit - self._drained - len(self._decoded) + 1

    @property
    def is_cut(self) -> bool:
        """Whether the body was longer than the limit."""
        return self._drained + len(self._decoded) > self._limit

    @property
    def content(self) -> bytes:
        """The decoded bytes that were not taken, at most `limit` of them."""
        return bytes(memoryview(self._decoded)[: self._limit])


def finish_body(body: ResponseBody) -> ResponseBody:
    """Return `body` after its end, for a worker process. Raise `CallRefusedError` as `ResponseBody.finish` does."""
    return body.finish()


def _has_zlib_header(start: bytes) -> bool:
    """Tell deflate in its zlib format (RFC 1950), as RFC 9110 has it, from the raw one (RFC 1951) that many hosts send."""
    return start[0] & 0x0F == zlib.DEFLATED and start[0] >> 4 <= 7 and int.from_bytes(start[:ZLIB_HEADER_BYTES]) % 31 == 0

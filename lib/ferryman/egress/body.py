"""The body of a response as it streams in, decoded within a limit (protects against decompression bombs)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError

_IDENTITY = ("", "identity")
_GZIP = ("gzip", "x-gzip")
_BROKEN = "the answer's content coding is broken"
STEP_BYTES = 65_536
"""Bytes of gzip output made in one step: at most a fifth of a millisecond."""

WIRE_BYTES_SPARE = 65_536  # bytes by which honest gzip may be longer than what it decodes to


class ResponseBody:
    """Collects at most `limit` decoded bytes. One coding, gzip or none: stacked codings and others can hide a bomb."""

    def __init__(self, coding: str, limit: int) -> None:
        coding = coding.strip().lower()
        if coding not in _IDENTITY + _GZIP:
            raise CallRefusedError(refusal.report_failure("the answer's content coding is not accepted"))
        self._inflate = zlib.decompressobj(16 + zlib.MAX_WBITS) if coding in _GZIP else None
        self._decoded = bytearray()
        self._limit = limit
        self.received = 0

    def feed(self, chunk: bytes) -> bool:
        """Take in a chunk as received, and tell whether more may follow. Raise `CallRefusedError` if it does not decode."""
        for _ in self.steps(chunk):
            pass
        return self.is_open

    def steps(self, chunk: bytes) -> Iterator[None]:
        """Take in a chunk as `feed` does, yielding between every two pieces: some bytes of gzip may decode to megabytes.

        What follows the end of a gzip stream is not read: zlib would keep all of it.
        """
        self.received += len(chunk)
        if self._inflate is None:
            self._decoded += chunk[: self._room]
            return
        while True:
            try:
                self._decoded += self._inflate.decompress(chunk, min(self._room, STEP_BYTES))
            except zlib.error:
                raise CallRefusedError(refusal.report_failure(_BROKEN)) from None
            chunk = self._inflate.unconsumed_tail
            if not self.is_open or not chunk:
                break
            yield
        if not self.is_cut and self.received > self._limit + WIRE_BYTES_SPARE:
            raise CallRefusedError(refusal.report_failure(_BROKEN))

    def finish(self) -> None:
        """End the body. Raise `CallRefusedError` if the coding announced more."""
        if self._inflate is not None and self.received and not (self.is_cut or self._inflate.eof):
            raise CallRefusedError(refusal.report_failure(_BROKEN))

    @property
    def is_open(self) -> bool:
        """Whether more may follow."""
        return not self.is_cut and (self._inflate is None or not self._inflate.eof)

    @property
    def _room(self) -> int:
        # One byte more than the limit tells a body that is too long from one that fits.
        return self._limit - len(self._decoded) + 1

    @property
    def is_cut(self) -> bool:
        """Whether the body was longer than the limit."""
        return len(self._decoded) > self._limit

    @property
    def content(self) -> bytes:
        """The decoded bytes, at most `limit` of them."""
        return bytes(memoryview(self._decoded)[: self._limit])

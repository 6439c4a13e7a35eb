"""The body of an answer as it streams in: its content coding undone, never more kept than may be shown."""

from __future__ import annotations

import zlib

from ferryman.domain import refusal
from ferryman.domain.refusal import Refused

_IDENTITY = ("", "identity")
_GZIP = ("gzip", "x-gzip")
_BROKEN = "the answer's content coding is broken"
WIRE_BYTES_SPARE = 65_536
"""Honest gzip is never more than this longer than what it decodes to."""


class Body:
    """Collects at most `most` decoded bytes. One coding, gzip or none: stacked ones and the others can hide a bomb."""

    def __init__(self, coding: str, most: int) -> None:
        coding = coding.strip().lower()
        if coding not in _IDENTITY + _GZIP:
            raise Refused(refusal.failed("the answer's content coding is not accepted"))
        self._inflate = zlib.decompressobj(16 + zlib.MAX_WBITS) if coding in _GZIP else None
        self._kept = bytearray()
        self._most = most
        self.received = 0

    def feed(self, chunk: bytes) -> bool:
        """Take in a chunk as received; tells whether more may follow. Raises `Refused` where it does not decode.

        What follows the end of a gzip stream is not read: zlib would keep all of it.
        """
        self.received += len(chunk)
        # One byte more than fits tells a body that is too long from one that just fits.
        room = self._most - len(self._kept) + 1
        try:
            self._kept += chunk[:room] if self._inflate is None else self._inflate.decompress(chunk, room)
        except zlib.error:
            raise Refused(refusal.failed(_BROKEN)) from None
        if self._inflate is None or self.cut:
            return not self.cut
        if self.received > self._most + WIRE_BYTES_SPARE:
            raise Refused(refusal.failed(_BROKEN))
        return not self._inflate.eof

    def end(self) -> None:
        """Nothing follows; raises `Refused` where the coding promised more."""
        if self._inflate is not None and self.received and not (self.cut or self._inflate.eof):
            raise Refused(refusal.failed(_BROKEN))

    @property
    def cut(self) -> bool:
        """Whether there was more than could be kept."""
        return len(self._kept) > self._most

    @property
    def content(self) -> bytes:
        """What was kept."""
        return bytes(memoryview(self._kept)[: self._most])

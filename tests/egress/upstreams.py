"""Upstreams that misbehave, by class: each an answer over real TLS, with what may come of it."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Callable, Iterable
from functools import cache

import brotli

from tests.egress.conftest import Answer, reply

OK = b"HTTP/1.1 200 OK\r\n"
FAILED = "Error: request failed: "
FRAMED = '<tool_response id="n0" truncated="'
LATE = "Error: request timed out"
CODING = f"{FAILED}the answer's content coding is "
INVALID = f"{FAILED}the answer was not valid HTTP"
MB = 1_000_000


def raw(*parts: bytes) -> Answer:
    """Return an answer that writes the parts and closes."""

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()

    return answer


def endless(start: bytes, again: bytes, *, pause_s: float = 0.0) -> Answer:
    """Return an answer that writes `start`, then `again` until the peer has closed."""

    async def answer(_: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while not writer.transport.is_closing():
            writer.write(again)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return answer


def coded(coding: str, body: bytes) -> Answer:
    return reply(body, headers=[f"content-encoding: {coding}"])


def late(make: Callable[[], Answer]) -> Answer:
    """Return an answer that is made when it is given: 200 MB are slow to pack."""

    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        await make()(request, writer)

    return answer


def packed(parts: Iterable[bytes], wbits: int = 31) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    return b"".join([*map(packer.compress, parts), packer.flush()])


@cache
def zeros() -> bytes:
    return packed(b"\0" * MB for _ in range(200))


def brotli_packed(letter: bytes, megabytes: int) -> bytes:
    packer = brotli.Compressor(quality=5, lgwin=24)  # the largest window
    return b"".join([*(packer.process(letter * MB) for _ in range(megabytes)), packer.finish()])


@cache
def brotli_zeros() -> bytes:
    return brotli_packed(b"\0", 50)


@cache
def wide() -> bytes:
    return packed([("\U0001f600" + "a" * 4 * MB).encode()])


CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"
LONG = OK + b"content-length: 99999999\r\n\r\n"

UPSTREAMS: dict[str, dict[str, tuple[Answer, str]]] = {
    "bombs": {
        "gzip, 200 MB": (late(lambda: coded("gzip", zeros())), f'{FRAMED}true" status="200">'),
        "gzip of wide letters": (late(lambda: coded("gzip", wide())), f'{FRAMED}true" status="200">\U0001f600aaaa'),
        "x-gzip": (late(lambda: coded("x-gzip", zeros())), f'{FRAMED}true" status="200">'),
        "gzip, gzip": (late(lambda: coded("gzip, gzip", gzip.compress(zeros()))), f"{CODING}not accepted"),
        "gzip three times": (
            late(lambda: coded("gzip,gzip,gzip", gzip.compress(gzip.compress(zeros())))),
            f"{CODING}not accepted",
        ),
        "gzip in two headers": (late(lambda: reply(zeros(), headers=["content-encoding: gzip"] * 2)), f"{CODING}not accepted"),
        "br": (late(lambda: coded("br", brotli_zeros())), f'{FRAMED}true" status="200">binary, more than '),
        "br of letters": (late(lambda: coded("br", brotli_packed(b"a", 16))), f'{FRAMED}true" status="200">aaaa'),
        "br, gzip": (late(lambda: coded("br, gzip", gzip.compress(brotli_zeros()))), f"{CODING}not accepted"),
        "br without an end": (
            late(
                lambda: endless(
                    LONG.replace(b"\r\n\r\n", b"\r\ncontent-encoding: br\r\n\r\n") + brotli_zeros()[:-2], b"\0" * 65_536
                )
            ),
            f'{FRAMED}true" status="200">binary',
        ),
        "garbage as br, without an end": (
            endless(LONG.replace(b"\r\n\r\n", b"\r\ncontent-encoding: br\r\n\r\n"), b"z" * 65_536),
            f"{CODING}broken",
        ),
        "zstd": (coded("zstd", b"\x28\xb5\x2f\xfd" + b"\0" * 99), f"{CODING}not accepted"),
        "deflate": (
            late(lambda: coded("deflate", packed((b"a" * MB for _ in range(50)), 15))),
            f'{FRAMED}true" status="200">aaaa',
        ),
        "raw deflate": (
            late(lambda: coded("deflate", packed((b"a" * MB for _ in range(50)), -15))),
            f'{FRAMED}true" status="200">aaaa',
        ),
        "deflate, deflate": (coded("deflate, deflate", zlib.compress(packed([b"a"], 15))), f"{CODING}not accepted"),
        "compress": (coded("compress", b"\x1f\x9d\x90"), f"{CODING}not accepted"),
        "an invented coding": (late(lambda: coded("gzip;q=1", zeros())), f"{CODING}not accepted"),
        "a body without an end": (endless(LONG, b"a" * 65_536), f'{FRAMED}true" status="200">aaaa'),
        "chunks without an end": (endless(CHUNKED, b"8000\r\n" + b"a" * 32_768 + b"\r\n"), f'{FRAMED}true" status="200">aaaa'),
        "gzip without an end": (
            late(
                lambda: endless(
                    LONG.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n") + zeros()[:9_000], zeros()[9_000:]
                )
            ),
            f'{FRAMED}true" status="200">',
        ),
        "gzip of nothing, without an end": (
            endless(
                LONG.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n") + b"\x1f\x8b\x08\0\0\0\0\0\0\xff",
                b"\0\0\0\xff\xff" * 13_000,
            ),
            f"{CODING}broken",
        ),
        "garbage behind gzip, without an end": (
            endless(LONG.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n") + gzip.compress(b"plain"), b"z" * 65_536),
            f'{FRAMED}false" status="200">plain<',
        ),
    },
    "broken coding": {
        "no gzip": (coded("gzip", b"not gzip at all"), f"{CODING}broken"),
        "cut off": (coded("gzip", gzip.compress(b"x" * 9_999)[:-9]), f"{CODING}broken"),
        "a wrong checksum": (coded("gzip", gzip.compress(b"plain")[:-8] + b"\0" * 8), f"{CODING}broken"),
        "a wrong length": (coded("gzip", gzip.compress(b"plain")[:-4] + b"\xff" * 4), f"{CODING}broken"),
        "zlib instead": (coded("gzip", zlib.compress(b"plain")), f"{CODING}broken"),
        "nothing": (coded("gzip", b""), f'{FRAMED}false" status="200"></'),
        "no deflate": (coded("deflate", b"\x78\x9cnot deflate at all"), f"{CODING}broken"),
        "deflate, cut off": (coded("deflate", zlib.compress(b"x" * 9_999)[:-9]), f"{CODING}broken"),
        "deflate with a dictionary": (coded("deflate", b"\x78\xbb" + b"\0" * 99), f"{CODING}broken"),
        "no br": (coded("br", b"not brotli at all"), f"{CODING}broken"),
        "br, cut off": (coded("br", brotli.compress(b"x" * 9_999)[:-1]), f"{CODING}broken"),
        "br, and more": (coded("br", brotli.compress(b"x" * 9_999) + b"more"), f"{CODING}broken"),
        "nothing in br": (coded("br", b""), f'{FRAMED}false" status="200"></'),
    },
    "framing of the body": {
        "shorter than told": (reply(b"ab", length=10), FAILED),
        "longer than told": (reply(b"ab" * 99, length=2), f'{FRAMED}false" status="200">ab<'),
        "two lengths": (raw(OK + b"content-length: 1\r\ncontent-length: 2\r\n\r\nab"), INVALID),
        "a list of lengths": (raw(OK + b"content-length: 1, 2\r\n\r\nab"), INVALID),
        "a negative length": (raw(OK + b"content-length: -1\r\n\r\nab"), INVALID),
        "a length with a sign": (raw(OK + b"content-length: +2\r\n\r\nab"), INVALID),
        "a length in hexadecimal": (raw(OK + b"content-length: 0x2\r\n\r\nab"), INVALID),
        "a length beyond all bounds": (raw(OK + b"content-length: " + b"9" * 5_000 + b"\r\n\r\nab"), INVALID),
        "a length and chunks": (
            raw(OK + b"content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
            (f'{FRAMED}false" status="200">abc<'),
        ),
        "chunks twice": (raw(OK + b"transfer-encoding: chunked, chunked\r\n\r\n0\r\n\r\n"), INVALID),
        "another transfer coding": (raw(OK + b"transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), INVALID),
        "a chunk that is no number": (raw(CHUNKED + b"zz\r\nab\r\n0\r\n\r\n"), INVALID),
        "a chunk of a negative size": (raw(CHUNKED + b"-2\r\nab\r\n0\r\n\r\n"), INVALID),
        "a chunk of an enormous size": (raw(CHUNKED + b"f" * 20 + b"\r\nab"), FAILED),
        "a chunk of a size beyond all bounds": (raw(CHUNKED + b"f" * 200_000 + b"\r\nab"), INVALID),
        "a chunk longer than told": (raw(CHUNKED + b"2\r\nabcdef\r\n0\r\n\r\n"), INVALID),
        "a last chunk that never comes": (raw(CHUNKED + b"2\r\nab\r\n"), FAILED),
        "an extension beyond all bounds": (endless(CHUNKED + b"2;", b"x" * 65_536), INVALID),
        "trailers beyond all bounds": (endless(CHUNKED + b"2\r\nab\r\n0\r\n", b"x-trailer: y\r\n" * 5_000), INVALID),
        "no length, until it closes": (raw(OK + b"\r\nab"), f'{FRAMED}false" status="200">ab<'),
        "a body where there is none": (raw(b"HTTP/1.1 204 No Content\r\n\r\nsurprise"), f'{FRAMED}false" status="204"></'),
    },
    "heads": {
        "1 MB of one header": (raw(OK + b"x-a: " + b"a" * MB + b"\r\n\r\n"), INVALID),
        "1 MB of headers": (raw(OK + b"x-a: a\r\n" * 125_000 + b"\r\n"), INVALID),
        "headers without an end": (endless(OK, b"x-a: a\r\n" * 1_000), INVALID),
        "a status line without an end": (endless(b"HTTP/1.1 200 ", b"O" * 65_536), INVALID),
        "10,000 times 103": (
            raw(b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" * 10_000, OK + b"content-length: 2\r\n\r\nab"),
            f'{FRAMED}false" status="200">ab<',
        ),
        "HTTP/0.9": (raw(b"<html>plain</html>\n"), INVALID),
        "HTTP/2": (raw(b"\0\0\x12\x04\0\0\0\0\0" + b"\0" * 18), FAILED),
        "HTTP/3.0": (raw(b"HTTP/3.0 200 OK\r\n\r\n"), ""),
        "garbage": (raw(bytes(range(256)) * 40), INVALID),
        "a mail server": (raw(b"220 mail.test ESMTP\r\n\r\n"), INVALID),
        "nothing": (raw(b""), FAILED),
        "half a head": (raw(b"HTTP/1.1 200 OK\r\ncontent-le"), FAILED),
        "a status that is none": (raw(b"HTTP/1.1 999999 OK\r\n\r\n"), INVALID),
        "a status of letters": (raw(b"HTTP/1.1 abc OK\r\n\r\n"), INVALID),
        "status 000": (raw(b"HTTP/1.1 000 OK\r\ncontent-length: 2\r\n\r\nab"), ""),
        "an upgrade": (raw(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nwild"), ""),
        "a space in a name": (raw(OK + b"bad header: x\r\n\r\n"), INVALID),
        "no name": (raw(OK + b": x\r\n\r\n"), INVALID),
        "a folded header": (raw(OK + b"content-length: 2\r\nx-a: b\r\n c\r\n\r\nab"), f'{FRAMED}false" status="200">ab<'),
        "a NUL in a value": (raw(OK + b"x-a: \0\r\n\r\n"), INVALID),
        "bare line feeds": (raw(b"HTTP/1.1 200 OK\ncontent-length: 2\n\nab"), f'{FRAMED}false" status="200">ab<'),
        "a type that is no text": (
            raw(OK + b"content-type: \xff\xfe; charset=\xff\r\ncontent-length: 2\r\n\r\nab"),
            f'{FRAMED}false" status="200" content_type="invalid">ab<',
        ),
        "cookies and more": (
            reply(b"ab", headers=["set-cookie: a=b", "www-authenticate: Basic", 'alt-svc: h3=":443"']),
            f'{FRAMED}false" status="200">ab<',
        ),
    },
    "two answers": {
        "in one record": (
            raw((OK + b"content-length: 4\r\n\r\ntrue") + (OK + b"content-length: 4\r\n\r\nevil")),
            f'{FRAMED}false" status="200">true<',
        ),
        "in two": (
            raw(OK + b"content-length: 4\r\n\r\ntrue", OK + b"content-length: 4\r\n\r\nevil"),
            f'{FRAMED}false" status="200">true<',
        ),
        "an answer and bytes": (
            raw(OK + b"content-length: 4\r\nconnection: keep-alive\r\n\r\ntrueevil"),
            f'{FRAMED}false" status="200">true<',
        ),
    },
}
"""By class and name: the answer, and how what the model reads begins."""

DRIPS: dict[str, Answer] = {
    "a head": endless(OK + b"x-a: ", b"a", pause_s=0.01),
    "a header after the other": endless(OK, b"x-a: a\r\n", pause_s=0.05),
    "a body": endless(LONG, b"a", pause_s=0.01),
    "a body in gzip": endless(LONG.replace(b"\r\n\r\n", b"\r\ncontent-encoding: gzip\r\n\r\n"), b"", pause_s=0.01),
    "chunks": endless(CHUNKED, b"1\r\na\r\n", pause_s=0.01),
    "a chunk's head": endless(CHUNKED + b"2;", b"a", pause_s=0.01),
    "nothing at all": endless(b"", b"", pause_s=0.01),
    "103 for ever": endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 50),
    "100 for ever": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n", pause_s=0.001),
}
"""Answers without an end; the deadline is theirs."""

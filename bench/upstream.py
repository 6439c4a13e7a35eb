"""A host for benches of the gate, in a process of its own: its time is nobody's but its own.

    python -m bench.upstream CERTIFICATE

It answers every request with 1 KB of JSON and keeps connections. Prints its port, and ends with its standard input.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PRICES = [{"at": 1_767_778_800 + 3_600 * hour, "usd": 96_000.25 + hour, "eur": 88_000.5 - hour} for hour in range(18)]
ANSWER = json.dumps({"id": "bitcoin", "name": "Bitcoin", "prices": PRICES, "last_updated": "2026-01-07T10:00:00.000Z"}).encode()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(ANSWER)
BACKLOG = 512


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection until its peer closes it."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            length = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")), 0)
            await reader.readexactly(length)
            writer.write(HEAD + ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, OSError):
        writer.close()


async def serve(certificate: str) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context, backlog=BACKLOG)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


@contextmanager
def start_upstream(certificate: Path) -> Iterator[int]:
    """Start one; the context is its port."""
    command = [sys.executable, "-m", "bench.upstream", str(certificate)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.kill()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))

"""The upstream of the calls, a process of its own: TLS, connections kept open, 1 KB of JSON after 50 ms.

    python upstream.py PEM

prints the port that it listens on.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys

DELAY_S = 0.05
CONTENT = json.dumps({"prices": [[day, day * 1.5] for day in range(60)], "note": "y" * 200}).encode()
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(CONTENT) + CONTENT


class Upstream(asyncio.Protocol):
    """One connection: counts the bytes of each request, and answers it."""

    def __init__(self) -> None:
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, rest = self._received.partition(b"\r\n\r\n")
            lower = head.lower()
            start = lower.find(b"content-length:")
            length = 0 if start < 0 else int(lower[start + 15 :].partition(b"\r\n")[0])
            if len(rest) < length:
                return
            self._received = rest[length:]
            asyncio.get_running_loop().call_later(DELAY_S, self._answer, b"connection: close" in lower)

    def _answer(self, ends: bool) -> None:
        if not self._transport.is_closing():
            self._transport.write(ANSWER)
            if ends:
                self._transport.close()


async def main() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1])
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", 0, ssl=context, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())

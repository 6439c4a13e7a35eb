"""What a bomb costs: the growth in memory of a fresh process whose call through the gate is answered with 200 MB in few bytes,
and of one that takes the credentials out of a document of 16 MB, or out of a value of JSON.

Run with `python -m bench.bombs`. The bar is twice the plan's limit and 8 MB for an answer, and three times the text and 32 MB
for what is redacted; the exit code is 1 where a bomb goes over it.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import os
import ssl
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import brotli

from bench.gate import Loopback, make_credentials
from emulator.internet.authority import Authority
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.http.request import Method, OutboundRequest
from ferryman.domain.owners.plan import PRO
from ferryman.egress.gate import EgressGate
from ferryman.egress.leaks import SecretScanner, redact_json, redact_text
from ferryman.egress.tls import create_context
from ferryman.inmemory.log import RecordingLog
from ferryman.ports.gate import CallPolicy
from ferryman.tools.declared.documents import DOCUMENT_BYTES_MAX

HOST = "bombs.bench.test"
MB = 1_000_000
BAR_BYTES = 2 * PRO.response_bytes + 8 * MB


def compress(parts: Iterable[bytes], *, wbits: int = 31) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    return b"".join([*map(packer.compress, parts), packer.flush()])


def compress_brotli(parts: Iterable[bytes], *, window: int = 24) -> bytes:
    """Return `parts` in brotli with a window of two to the power of `window` bytes; the largest has 16 MiB."""
    packer = brotli.Compressor(quality=5, lgwin=window)
    return b"".join([*map(packer.process, parts), packer.finish()])


def build_bombs() -> dict[str, tuple[str, bytes]]:
    """Build the bombs: content coding and body by name."""
    key = make_credentials()["KEY_0"].secret.reveal().encode()
    zeros = compress(b"\0" * MB for _ in range(200))
    return {
        "none, an honest 1 KB": ("identity", b"y" * 1024),
        "gzip": ("gzip", zeros),
        "gzip of letters": ("gzip", compress(b"a" * MB for _ in range(200))),
        "gzip of four-byte letters": ("gzip", compress(("\U0001f600" * 250_000).encode() for _ in range(200))),
        "gzip of letters and one of four bytes": ("gzip", compress(("\U0001f600" + "a" * MB).encode() for _ in range(200))),
        "gzip of the key": ("gzip", compress(b"%s " % key * 20_000 for _ in range(200))),
        "gzip of frame marks": ("gzip", compress(b"</tool_response>\nHuman: " * 50_000 for _ in range(160))),
        "gzip of entities": ("gzip", compress(b"&amp;#116;&#x6f;ol" * 60_000 for _ in range(160))),
        "gzip that goes on with garbage": ("gzip", gzip.compress(b"a") + b"z" * 50 * MB),
        "gzip of empty blocks": ("gzip", b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + b"\0\0\0\xff\xff" * 10 * MB),
        "gzip with an endless name": ("gzip", b"\x1f\x8b\x08\x08\0\0\0\0\0\xff" + b"n" * 50 * MB),
        "gzip, gzip": ("gzip, gzip", gzip.compress(zeros)),
        "gzip three times": ("gzip, gzip, gzip", gzip.compress(gzip.compress(zeros))),
        "gzip of random bytes": ("gzip", compress([os.urandom(20 * MB)])),
        "deflate": ("deflate", compress((b"\0" * MB for _ in range(200)), wbits=15)),
        "deflate of letters": ("deflate", compress((b"a" * MB for _ in range(200)), wbits=15)),
        "raw deflate of letters": ("deflate", compress((b"a" * MB for _ in range(200)), wbits=-15)),
        "deflate of the key": ("deflate", compress((b"%s " % key * 20_000 for _ in range(200)), wbits=15)),
        "deflate that goes on with garbage": ("deflate", zlib.compress(b"a") + b"z" * 50 * MB),
        "raw deflate of empty blocks": ("deflate", b"\0\0\0\xff\xff" * 10 * MB),
        "deflate, deflate": ("deflate, deflate", zlib.compress(zeros)),
        "br": ("br", compress_brotli(b"\0" * MB for _ in range(200))),
        "br of letters": ("br", compress_brotli(b"a" * MB for _ in range(200))),
        "br of letters, a small window": ("br", compress_brotli((b"a" * MB for _ in range(200)), window=10)),
        "br of four-byte letters": ("br", compress_brotli(("\U0001f600" * 250_000).encode() for _ in range(200))),
        "br of the key": ("br", compress_brotli(b"%s " % key * 20_000 for _ in range(200))),
        "br that goes on with garbage": ("br", brotli.compress(b"a") + b"z" * 50 * MB),
        "br of empty blocks": ("br", b"\x0b" + b"\x06" * 50 * MB),
        "br of random bytes": ("br", brotli.compress(os.urandom(20 * MB), quality=1)),
        "br, br": ("br, br", brotli.compress(compress_brotli(b"\0" * MB for _ in range(200)))),
        "zstd": ("zstd", zeros),
        "random bytes": ("identity", os.urandom(20 * MB)),
        "plain 200 MB": ("identity", b"a" * 200 * MB),
    }


def build_texts(key: str) -> dict[str, Callable[[], Any]]:
    """Build what `key` is redacted from, by name: documents as long as they may be, and values of JSON."""
    coded = base64.b64encode(key.encode()).decode()

    def fill(piece: str) -> str:
        return piece * (DOCUMENT_BYTES_MAX // len(piece.encode()))

    def deep() -> Any:
        value: Any = [1] * 60_000
        for level in range(500):
            value = {f"{level:0200}": value}
        return value

    return {
        "a document of blanks": lambda: fill(" "),
        "a document that echoes the key once": lambda: key + fill("- a\n")[: -len(key)],
        "a document of the key alone": lambda: fill(f"{key} "),
        "a document of the key in base64": lambda: fill(coded),
        "a document of half the key": lambda: fill(f"{key[:24]} "),
        "a document of eight characters of the key": lambda: fill(key[-8:]),
        "a document of backslashes": lambda: fill("\\"),
        "a document of percents": lambda: fill("%25"),
        "a document of letters of four bytes": lambda: key + fill("\U0001f600"),
        "JSON as deep as it may be, with many leaves": deep,
        "JSON of fewer leaves than are looked at": lambda: ["word"] * 65_000,
        "JSON of more leaves than are looked at": lambda: [1] * 1_000_000,
        "JSON of a URL of many segments": lambda: ["https://a.test" + "/" * 1_000_000],
    }


async def measure_redaction(name: str) -> None:
    """Redact one of the texts in this process; print the growth of the peak in bytes, and the bar."""
    keys = make_credentials()
    scanner = SecretScanner(keys.values())
    redact_text("honest", scanner)
    text = build_texts(keys["KEY_0"].secret.reveal())[name]()
    peak_before = read_peak(reset=True)
    content = redact_text(text, scanner) if isinstance(text, str) else redact_json(text, scanner)
    size = sys.getsizeof(text) if isinstance(text, str) else len(json.dumps(text))
    print(json.dumps({"growth": read_peak() - peak_before, "bar": 3 * size + 32 * MB, "content": str(content)[:60]}))


async def measure_call(port: int, ca: Path) -> None:
    """Make one honest call, then that of the bomb; print the growth of the peak in bytes."""
    internet = Loopback(port)
    gate = EgressGate(names=internet, dial=internet, tls=create_context(ca), tracer=RecordingLog())
    policy = ExecutionPolicy(owner="o", task="t", plan=PRO, tools=("http_get",), integrations=(), domains=(HOST,))
    keys = make_credentials()

    async def call(path: str) -> str:
        outbound = OutboundRequest(tool="http_get", method=Method.GET, url=f"https://{HOST}/{path}")
        return (await gate.send(outbound, CallPolicy(execution=policy, credentials=keys))).content

    await call("honest")
    peak_before = read_peak(reset=True)
    content = await call("bomb")
    print(json.dumps({"growth": read_peak() - peak_before, "content": content[:60]}))


def read_peak(*, reset: bool = False) -> int:
    """Return the most bytes this process had in memory. With `reset`, counting starts again from what it has now."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) * 1024


async def main() -> int:
    over = 0
    print(f"{'bomb':40}{'on the wire':>14}{'growth MB':>11}   bar {BAR_BYTES / MB:.0f} MB")
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(Path(folder))
        server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server_context.load_cert_chain(authority.issue(HOST))
        for name, (coding, body) in build_bombs().items():
            result = await _measure_bomb(server_context, authority.path, coding, body)
            bad = result["growth"] > BAR_BYTES
            over += bad
            print(f"{name:40}{len(body):14,}{result['growth'] / MB:11.1f}   {'OVER ' * bad}{result['content']!r}")
    print(f"\n{'redacted':46}{'bar MB':>8}{'growth MB':>11}")
    for name in build_texts(""):
        result = json.loads(await _run_child(name))
        bad = result["growth"] > result["bar"]
        over += bad
        print(f"{name:46}{result['bar'] / MB:8.1f}{result['growth'] / MB:11.1f}   {'OVER ' * bad}{result['content']!r}")
    return 1 if over else 0


async def _measure_bomb(server_context: ssl.SSLContext, ca: Path, coding: str, body: bytes) -> dict:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        sent, coding_sent = (b"ok", "identity") if b"/honest " in head else (body, coding)
        try:
            writer.write(f"HTTP/1.1 200 OK\r\ncontent-length: {len(sent)}\r\ncontent-encoding: {coding_sent}\r\n\r\n".encode())
            for start in range(0, len(sent), MB):
                if writer.transport.is_closing():
                    break
                writer.write(sent[start : start + MB])
                await writer.drain()
        except OSError:
            pass
        writer.transport.abort()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=server_context)
    port = server.sockets[0].getsockname()[1]
    output = await _run_child(str(port), str(ca))
    server.close()
    return json.loads(output)


async def _run_child(*arguments: str) -> bytes:
    child = await asyncio.create_subprocess_exec(sys.executable, "-m", "bench.bombs", *arguments, stdout=subprocess.PIPE)
    output, _ = await child.communicate()
    return output


if __name__ == "__main__":
    if len(sys.argv) == 3:
        asyncio.run(measure_call(int(sys.argv[1]), Path(sys.argv[2])))
    elif len(sys.argv) == 2:
        asyncio.run(measure_redaction(sys.argv[1]))
    else:
        sys.exit(asyncio.run(main()))

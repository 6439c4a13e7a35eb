"""The memory of the function `web` as a whole, while it reads as many of the largest pages at once as an instance takes.

Run with `python -m bench.page_memory [--only NAME]`. The function is served by functions-framework, as the platform does it,
beside a local stack, and fetches the pages over TLS from simulated hosts. Each page is asked for by as many owners at once as
`concurrency` in infra/functions.json says; the figure is the largest sum of the proportional set sizes of all its processes
(Linux), looked at every few milliseconds. The pages are the generated kinds of 10 MB, those made to take long, and PDFs.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any
from uuid import UUID

from bench import Row, show
from bench.beside import ANSWERS_S, StartedFunction, start_function
from bench.extraction.corpora import LARGE_BYTES, read_large
from bench.starts import list_family, read_memory
from emulator.clock import EmulatorClock
from emulator.internet import Internet
from emulator.internet.routes import Route
from tests.imports.table import FirstCall, prepare
from tests.pages.hostile import SHAPES
from tests.pages.pdfs import BOMBS, write_pages
from tests.stack import start_stack

ROOT = Path(__file__).resolve().parents[1]
HOST = "pages.test.example"
EVERY_S = 0.005
FUNCTION = next(row for row in json.loads((ROOT / "infra/functions.json").read_text())["functions"] if row["name"] == "web")


class Peak:
    """The most memory of a function's processes together, in MiB, looked at by a thread of its own."""

    def __init__(self, process: int) -> None:
        self.mib = 0.0
        self._process, self._ended = process, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(EVERY_S):
            with suppress(OSError, StopIteration):  # a worker has ended meanwhile
                self.mib = max(self.mib, sum(map(read_memory, list_family(self._process))))


def list_pages(folder: Path, only: str) -> Iterator[tuple[str, str, bytes]]:
    """Yield name, media type and content of each page whose name contains `only`, none longer than a body may be."""
    for page in read_large(folder) if "large".startswith(only[:5]) else ():
        yield page.name, page.content_type, page.path.read_bytes()[:LARGE_BYTES]
    for name, write in SHAPES.items():
        if only not in f"hostile: {name}":
            continue
        count = 1_000
        while len(write(2 * count)) < LARGE_BYTES and count < 8_000_000:
            count *= 2
        yield f"hostile: {name}", "text/html", write(count).encode()[:LARGE_BYTES]
    for name, make in BOMBS.items():
        yield f"PDF: {name}", "application/pdf", make()
    text = "The night ferry leaves at ten. " * 660
    yield "PDF: 500 pages of 20 KB", "application/pdf", write_pages([text] * 500)


def build_call(first: FirstCall, path: str, owner: int) -> Mapping[str, Any]:
    """Return a call of the tool for a page, of an owner of its own."""
    arguments = {"url": f"https://{HOST}{path}", "max_bytes": LARGE_BYTES, "timeout_seconds": 60}
    body = {**json.loads(first.call["body"]), "tool": "web_fetch", "arguments": arguments, "user": str(UUID(int=owner))}
    return {**first.call, "body": json.dumps({**body, "within_s": 90.0, "most": 512 * 1024})}


def measure(function: StartedFunction, first: FirstCall, path: str) -> float:
    """Return the MiB of the function while it reads a page as many times at once as an instance takes calls."""
    calls = [build_call(first, path, owner) for owner in range(1, 1 + FUNCTION["concurrency"])]
    with Peak(function.process) as peak, ThreadPoolExecutor(len(calls)) as threads:
        codes = set(threads.map(lambda call: send(function, call), calls))
    # whatever a page is, it was fetched: what its reader needs too much for is told
    assert codes == {None}, codes
    return peak.mib


def send(function: StartedFunction, call: Mapping[str, Any]) -> str | None:
    """Return the code of the answer to a call."""
    connection = http.client.HTTPConnection("127.0.0.1", function.port, timeout=ANSWERS_S)
    try:
        connection.request(call["method"], call["path"], body=call["body"], headers=dict(call["headers"]))
        answer = connection.getresponse()
        assert answer.status == HTTPStatus.OK, answer.status
        code: str | None = json.loads(answer.read())["code"]
        return code
    finally:
        connection.close()


async def measure_all(only: str) -> dict[str, float]:
    """Return the MiB by page: of a new instance, and at the most ever, since one instance reads all of them."""
    measured: dict[str, float] = {}
    with tempfile.TemporaryDirectory(dir=ROOT / "build", prefix="page-memory-") as folder:
        internet = Internet(Path(folder) / "internet", clock=EmulatorClock())
        pages = [page for page in list_pages(Path(folder), only) if only in page[0]]
        routes = [build_route(number, kind, content) for number, (_, kind, content) in enumerate(pages)]
        internet.can(HOST, routes)
        await internet.start()
        with start_stack(Path(folder) / "data") as stack:
            first = await prepare(stack, "web")
            env = {**first.env, "FERRYMAN_PRETEND_INTERNET": str(internet.table)}
            with start_function(ROOT / "functions/web/main.py", env) as function:
                await asyncio.to_thread(function.ask, "/healthz")
                await asyncio.to_thread(function.send, first.warm)
                with Peak(function.process) as idle:
                    await asyncio.sleep(0.1)
                measured["idle"] = idle.mib
                for number, (name, *_) in enumerate(pages):
                    measured[name] = await asyncio.to_thread(measure, function, first, f"/{number}")
                    print(f"{measured[name]:6.0f} MiB  {name}", file=sys.stderr, flush=True)
        await internet.close()
    return measured


def build_route(number: int, kind: str, content: bytes) -> Route:
    """Return the answer with a page."""
    headers = (("content-type", kind),)
    return Route(method="GET", path=f"/{number}", status=200, headers=headers, body=content, delay_s=0, echo=False)


def rows(only: str = "") -> Iterator[Row]:
    """Measure, and yield the row of the page that takes most."""
    measured = asyncio.run(measure_all(only))
    name = max(measured, key=lambda key: measured[key])
    most = FUNCTION["memory_mib"]
    yield Row(
        f"memory of function `web` with {FUNCTION['concurrency']} of the largest pages at once, {len(measured) - 1} kinds",
        f"<= {most} MiB",
        f"{measured[name]:.0f} MiB ({name})",
        measured[name] <= most,
        f"{measured['idle']:.0f} MiB before",
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only pages whose names contain this")
    sys.exit(show(rows(parser.parse_args().only)))

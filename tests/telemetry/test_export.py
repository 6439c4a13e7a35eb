"""Sending: the spans go to the OTLP endpoint that is set, over HTTP, before a request has ended."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from ferryman.inmemory.log import RecordingLog
from ferryman.settings import Settings
from ferryman.telemetry.traces import OtelTracer


@pytest.fixture
def collector() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """The endpoint of a collector on loopback, and what it was sent: path and body."""
    received: list[tuple[str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield f"http://127.0.0.1:{server.server_port}", received
    server.shutdown()
    serving.join()
    server.server_close()


async def test_spans_reach_the_collector(collector):
    endpoint, received = collector
    traces = OtelTracer(RecordingLog(), Settings(otlp_endpoint=endpoint))
    with traces.span("chat claude", {"gen_ai.request.model": "claude"}):
        pass
    await traces.flush()
    [(path, body)] = received
    assert path == "/v1/traces"
    assert b"gen_ai.request.model" in body

"""Serve the page beside this file, and pass its messages on to an agent: the API key stays in this process.

FERRYMAN_URL=… FERRYMAN_KEY=… python examples/chat/serve.py AGENT [--model NAME] [--port 8600]
"""

from __future__ import annotations

import argparse
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

PAGE = Path(__file__).with_name("index.html")
READ_BYTES = 65_536


class Handler(BaseHTTPRequestHandler):
    """Answer GET / with the page, and POST /chat with the events of the agent's answer as they come."""

    chat_url = ""
    model: str | None = None

    def do_GET(self) -> None:
        self._begin(200, "text/html; charset=utf-8")
        self.wfile.write(PAGE.read_bytes())

    def do_POST(self) -> None:
        # any page that the browser shows can send to this address; one of another origin cannot say JSON and name this host
        here = f"127.0.0.1:{self.server.server_address[1]}"
        if self.headers["Host"] != here or self.headers["Content-Type"] != "application/json":
            self.send_error(403)
            return
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({**message, **({"model": self.model} if self.model else {})}).encode()
        headers = {"Authorization": f"Bearer {os.environ['FERRYMAN_KEY']}", "Content-Type": "application/json"}
        try:
            answer = urlopen(Request(self.chat_url, body, headers))
        except HTTPError as refused:
            answer = refused
        with answer:
            self._begin(answer.status, answer.headers["Content-Type"])
            while part := answer.read1(READ_BYTES):
                self.wfile.write(part)
                self.wfile.flush()

    def _begin(self, status: int, media_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.end_headers()


def main() -> None:
    """Serve on loopback until Ctrl-C."""
    parser = argparse.ArgumentParser()
    parser.add_argument("agent")
    parser.add_argument("--model")
    parser.add_argument("--port", type=int, default=8600)
    options = parser.parse_args()
    Handler.chat_url = f"{os.environ['FERRYMAN_URL']}/api/agents/{options.agent}/chat"
    Handler.model = options.model
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()

"""A small part of the pet store: it finds pets by status and by id, over HTTPS on loopback, for every client that sends a key.

    python emulator/petstore/server.py [--port 8443] [--ca petstore-ca.pem]

Its certificate is new at each start, by an authority that is written to the file of --ca.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import ssl
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from emulator.internet.authority import Authority

HOST = "petstore.swagger.io"
PETS = [
    {"id": 7, "name": "Tom", "category": {"id": 2, "name": "cats"}, "photoUrls": [], "status": "sold"},
    {"id": 42, "name": "Rex", "category": {"id": 1, "name": "dogs"}, "photoUrls": [], "status": "available"},
]


class PetStoreHandler(BaseHTTPRequestHandler):
    """The requests, which are logged on standard error, without their headers."""

    def do_GET(self) -> None:
        """GET /v2/pet/findByStatus and GET /v2/pet/{petId}."""
        url = urlsplit(self.path)
        name = url.path.removeprefix("/v2/pet/")
        if self.headers["Host"] not in (HOST, f"127.0.0.1:{self.server.server_port}", f"localhost:{self.server.server_port}"):  # type: ignore[attr-defined]  # an HTTP server has it
            self._answer(421, {"message": "there is no such host here"})
        elif self.headers["Origin"]:
            self._answer(403, {"message": "this is not for pages in a browser"})
        elif not (self.headers["api_key"] or self.headers["Authorization"]):
            self._answer(401, {"message": "who is asking?"})
        elif name == "findByStatus":
            statuses = parse_qs(url.query).get("status", [])
            self._answer(200, [pet for pet in PETS if pet["status"] in statuses])
        else:
            pet = next((item for item in PETS if str(item["id"]) == name), None)
            self._answer(404 if pet is None else 200, pet or {"message": "there is no such pet"})

    def _answer(self, status: int, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description="A small part of the pet store, on loopback.")
    parser.add_argument("--port", type=int, default=8443)
    parser.add_argument("--ca", type=Path, default=Path("petstore-ca.pem"))
    options = parser.parse_args()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        server = ThreadingHTTPServer(("127.0.0.1", options.port), PetStoreHandler)
    except OSError as error:
        parser.exit(1, f"127.0.0.1:{options.port} cannot be served: {error.strerror}\n")
    with server:
        with tempfile.TemporaryDirectory() as folder:
            authority = Authority(Path(folder))
            context.load_cert_chain(authority.issue(HOST))
            options.ca.write_text(authority.pem)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        sys.stderr.write(f"{HOST} on 127.0.0.1:{server.server_port}, certified by {options.ca}\n")
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


if __name__ == "__main__":
    main()

"""Ports: loopback ports by purpose, the same again on the same data wherever they are still free."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path

from emulator.files import replace
from emulator.web import listen, port_of


class Ports:
    """Remembers ports in a file, since queued tasks and other programs keep the addresses they were given."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known = _read(path)
        self._sockets: dict[str, socket.socket] = {}

    def bind(self, purpose: str, number: int = 0) -> socket.socket:
        """Bind the requested port, or the one remembered, or any free one. Raise OSError if the requested one is taken."""
        if number:
            return self._remember(purpose, listen(number))
        try:
            return self._remember(purpose, listen(self._known.get(purpose, 0)))
        except OSError:
            return self._remember(purpose, listen())

    def hold(self, purpose: str, number: int = 0) -> int:
        """Keep a port for a process that will bind it itself; return the port. Raise OSError like `bind`.

        Nobody else can bind it, another user of the machine least of all. Where the system still remembers connections of a run
        before, for a minute at most, it can only be bound shared.
        """
        try:
            sock = self._remember(purpose, listen(number or self._known.get(purpose, 0), shared=False))
        except OSError:
            sock = self.bind(purpose, number)
        self._sockets[purpose] = sock
        return port_of(sock)

    def release(self, purpose: str) -> None:
        """Make way for the process that binds the port now; `secure` ends it."""
        # Linux lets a second socket bind a port that nobody listens on, when both allow reuse: there it stays ours.
        if sys.platform == "linux":
            self._sockets[purpose].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, True)
        else:
            self._sockets[purpose].close()

    def secure(self, purpose: str) -> None:
        """Keep the port again, for when the process that bound it ends: no other may bind it then."""
        if sys.platform == "linux":
            self._sockets[purpose].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, False)

    def close(self) -> None:
        """Give back the ports that are held."""
        for sock in self._sockets.values():
            sock.close()

    def _remember(self, purpose: str, sock: socket.socket) -> socket.socket:
        self._known[purpose] = port_of(sock)
        replace(self._path, json.dumps(self._known, indent=1))
        return sock


def _read(path: Path) -> dict[str, int]:
    # Remembered for convenience only: what cannot be read is forgotten.
    try:
        known = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return {key: port for key, port in known.items() if isinstance(port, int)} if isinstance(known, dict) else {}

"""Redirect URIs: where a browser is led back to; a service has one of its own (mix-up attacks, RFC 9700, 4.4.2)."""

from __future__ import annotations

from collections.abc import Sequence

HOST, PATH = "127.0.0.1", "/callback"
PASTED_PORT = 49_152
"""The port that the browser is led back to where no server listens: its address is pasted instead."""


def choose_pasted_uri(service: str, registered: Sequence[str], port: int = 0) -> str:
    """Return where the browser is led back to when no server listens: the service's own address, or one on loopback."""
    return registered[0] if registered and not port else f"http://{HOST}:{port or PASTED_PORT}{PATH}/{service}"

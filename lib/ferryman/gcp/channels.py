"""Channels: Google's clients that know no variable for an emulator, led to the local cloud where settings name it."""

from __future__ import annotations

from typing import Any, TypeVar

Client = TypeVar("Client")


def reached(kind: type[Client], host: str | None) -> Client:
    """A client of this kind, of the real service where `host` (HOST:PORT) is None."""
    if host is None:
        return kind()
    import grpc.aio

    made: Any = kind
    transport = made.get_transport_class("grpc_asyncio")
    return kind(**{"transport": transport(channel=grpc.aio.insecure_channel(host))})

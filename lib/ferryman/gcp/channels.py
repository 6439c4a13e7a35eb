"""Channels: Google's clients use the local cloud where settings name it, and send its token with each call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Client = TypeVar("Client")

UNLIMITED = (("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1))
"""As Google's clients have it: the service says how much is too much."""

KINDS = {
    "intercept_unary_unary": "UnaryUnaryClientInterceptor",
    "intercept_unary_stream": "UnaryStreamClientInterceptor",
    "intercept_stream_unary": "StreamUnaryClientInterceptor",
    "intercept_stream_stream": "StreamStreamClientInterceptor",
}


def connect_client(kind: type[Client], host: str | None, token: str | None) -> Client:
    """Return a client of this kind for `host` (HOST:PORT), or for Google's own where that is None; `token` None sends none."""
    if host is None:
        return kind()
    import grpc.aio

    client_type: Any = kind
    channel = grpc.aio.insecure_channel(host, options=UNLIMITED, interceptors=_build_interceptors(token) if token else None)
    return kind(**{"transport": client_type.get_transport_class("grpc_asyncio")(channel=channel)})


async def wait_for_connection(client: Any) -> None:
    """Wait until a client of the local cloud, or of Google's own, is connected."""
    await client.transport.grpc_channel.channel_ready()


def _build_interceptors(token: str) -> list[Any]:
    import grpc.aio

    async def send(proceed: Callable[..., Any], details: Any, request: Any) -> Any:
        metadata = (*(details.metadata or ()), ("authorization", f"Bearer {token}"))
        return await proceed(details._replace(metadata=metadata), request)

    # one of each kind: the library takes an interceptor of several kinds for one of the first
    return [type("Bearer", (getattr(grpc.aio, kind),), {name: staticmethod(send)})() for name, kind in KINDS.items()]

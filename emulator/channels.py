"""Channels: gRPC connections to a local cloud that send its token with each call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
import grpc.aio

UNLIMITED = (("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1))
"""As Google's clients have it: the service says how much is too much."""

KINDS = {
    "intercept_unary_unary": "UnaryUnaryClientInterceptor",
    "intercept_unary_stream": "UnaryStreamClientInterceptor",
    "intercept_stream_unary": "StreamUnaryClientInterceptor",
    "intercept_stream_stream": "StreamStreamClientInterceptor",
}


def open_channel(host: str, token: str | None) -> grpc.Channel:
    """Connect to HOST:PORT; `token` is None for a service that is not ours."""
    opened = grpc.insecure_channel(host, options=UNLIMITED)
    if token is None:
        return opened

    def send(proceed: Callable[..., Any], details: Any, request: Any) -> Any:
        return proceed(_add_token(details, token), request)

    return grpc.intercept_channel(opened, *_build_interceptors(grpc, send))


def open_aio_channel(host: str, token: str | None) -> grpc.aio.Channel:
    """Connect as `open_channel` does, within the running event loop."""

    async def send(proceed: Callable[..., Any], details: Any, request: Any) -> Any:
        return await proceed(_add_token(details, str(token)), request)

    interceptors = None if token is None else _build_interceptors(grpc.aio, send)
    return grpc.aio.insecure_channel(host, options=UNLIMITED, interceptors=interceptors)


def _add_token(details: Any, token: str) -> Any:
    return details._replace(metadata=(*(details.metadata or ()), ("authorization", f"Bearer {token}")))


def _build_interceptors(library: Any, send: Callable[..., Any]) -> list[Any]:
    # one of each kind: grpc.aio takes an interceptor of several kinds for one of the first
    return [type("Bearer", (getattr(library, kind),), {name: staticmethod(send)})() for name, kind in KINDS.items()]

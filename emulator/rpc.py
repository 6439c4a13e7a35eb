"""Remote calls: plain functions on messages served as a gRPC service, with no generated stubs."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import grpc

Method = tuple[Callable[[Any], Any], Any]
"""A function from a request message to a response message, and the class of the request."""


class RpcError(Exception):
    """A call ends with a gRPC status other than OK."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def invalid(message: str) -> RpcError:
    """Return the status of a request that can never succeed."""
    return RpcError(grpc.StatusCode.INVALID_ARGUMENT, message)


def service(name: str, methods: Mapping[str, Method]) -> grpc.GenericRpcHandler:
    """Serve `methods`, by the names they have in the service's proto."""

    def served(call: Callable[[Any], Any]) -> Callable[[Any, Any], Awaitable[Any]]:
        async def serve(request: Any, context: Any) -> Any:
            try:
                return call(request)
            except RpcError as failed:
                await context.abort(failed.code, failed.message)

        return serve

    return grpc.method_handlers_generic_handler(
        name,
        {
            method: grpc.unary_unary_rpc_method_handler(
                served(call),
                request_deserializer=request.FromString,
                response_serializer=to_bytes,
            )
            for method, (call, request) in methods.items()
        },
    )


def to_bytes(message: Any) -> bytes:
    """Return the message on the wire."""
    return bytes(message.SerializeToString())


def page(request: Any, total: int, *, most: int) -> tuple[int, int, str]:
    """Return the rows that a list request asks for: how many, from which on, and the token of the page after (empty at the
    end).

    Raise INVALID_ARGUMENT for a negative size or a token we did not give.
    """
    if request.page_size < 0:
        raise invalid("The page_size must not be negative.")
    if not re.fullmatch("[0-9]{0,12}", request.page_token):
        raise invalid("The page_token is not valid.")
    size = min(request.page_size or most, most)
    start = int(request.page_token or 0)
    return size, start, str(start + size) if start + size < total else ""


def blobs(rows: Sequence[tuple[bytes]], kind: Any) -> list[Any]:
    """Parse the messages of a column of serialised ones."""
    return [kind.FromString(blob) for (blob,) in rows]

"""The service: google.firestore.v1.Firestore as a gRPC handler, each call's name and the function that answers it."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import grpc

from .commits import Commits
from .databases import Databases
from .documents import DocumentReads
from .errors import StatusError
from .listen import Listening
from .queries import Queries
from .store import DocumentStore
from .wire import message

SERVICE = "google.firestore.v1.Firestore"

Unary = Callable[[Any], Awaitable[Any]]
Stream = Callable[[Any], AsyncGenerator[Any]]


def handler(store: DocumentStore, databases: Databases) -> grpc.GenericRpcHandler:
    """Return the handler of all calls. A call that is not in these tables is answered UNIMPLEMENTED by gRPC itself."""
    documents, commits, queries = DocumentReads(databases), Commits(databases), Queries(databases)
    unary: dict[str, Unary] = {
        "GetDocument": documents.get,
        "ListDocuments": documents.list,
        "ListCollectionIds": documents.collection_ids,
        "CreateDocument": commits.create,
        "UpdateDocument": commits.update,
        "DeleteDocument": commits.delete,
        "BeginTransaction": commits.begin,
        "Commit": commits.commit,
        "Rollback": commits.rollback,
        "BatchWrite": commits.batch_write,
        "PartitionQuery": queries.partition,
    }
    stream: dict[str, Stream] = {
        "BatchGetDocuments": documents.batch_get,
        "RunQuery": queries.run,
        "RunAggregationQuery": queries.aggregate,
    }
    listening = Listening(store, databases)
    handlers = {
        **{name: grpc.unary_unary_rpc_method_handler(answer(rpc), **wire(name)) for name, rpc in unary.items()},
        **{name: grpc.unary_stream_rpc_method_handler(answers(rpc), **wire(name)) for name, rpc in stream.items()},
        "Listen": grpc.stream_stream_rpc_method_handler(answers(listening.listen), **wire("Listen")),
    }
    return grpc.method_handlers_generic_handler(SERVICE, handlers)


def wire(name: str) -> dict[str, Any]:
    """Return how a call's messages cross the wire."""
    return {
        "request_deserializer": message(f"{name}Request").FromString,
        "response_serializer": lambda response: response.SerializeToString(),
    }


def answer(rpc: Unary) -> Callable[[Any, Any], Awaitable[Any]]:
    async def call(request: Any, context: Any) -> Any:
        try:
            return await rpc(request)
        except StatusError as error:
            return await context.abort(error.code, error.text)

    return call


def answers(rpc: Stream) -> Callable[[Any, Any], AsyncIterator[Any]]:
    async def call(request: Any, context: Any) -> AsyncIterator[Any]:
        try:
            async with aclosing(rpc(request)) as responses:
                async for response in responses:
                    yield response
        except StatusError as error:
            await context.abort(error.code, error.text)

    return call

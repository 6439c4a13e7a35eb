"""A gRPC handler that counts, for one caller, what passes through it, in the units of Google's price lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import grpc

Counts = Counter[tuple[str, str]]
"""Counts by function and kind."""

REQUESTS = "requests"
"""Round trips to a service: no price list has them, but each takes time."""
TRANSACTIONS = "transactions"
BATCH_READS = "batch reads"
QUERIES = "queries"
READS = "documents read"
WRITES = "documents written"
DELETES = "documents deleted"
TASKS = "operations of the queue"
ACCESSES = "secrets accessed"
CLASS_A, CLASS_B = "objects written and lists of the bucket", "objects read and looked at"
"""The classes of operations by which Cloud Storage bills; a deletion is free."""
KEPT_BYTES = "bytes kept in the bucket"


class CountingHandler(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """The services `inner` for one function: all its requests are counted under its name."""

    def __init__(self, function: str, inner: tuple[grpc.GenericRpcHandler, ...], counts: Counts) -> None:
        self._function = function
        self._inner = inner
        self._counts = counts

    def service(self, details: Any) -> Any:
        handler = next((method_handler for inner in self._inner if (method_handler := inner.service(details))), None)
        if handler is None:
            return None
        method = details.method.rpartition("/")[2]
        if handler.unary_unary:

            async def unary(request: Any, context: Any) -> Any:
                self._count_request(method, request)
                return await handler.unary_unary(request, context)

            return handler._replace(unary_unary=unary)
        if handler.unary_stream:

            async def stream(request: Any, context: Any) -> AsyncIterator[Any]:
                self._count_request(method, request)
                document_count = 0
                async for answer in handler.unary_stream(request, context):
                    document_count += method == "RunQuery" and bool(answer.document.name)
                    yield answer
                if method == "RunQuery":
                    self._add(READS, max(1, document_count))  # a query that finds nothing is billed as one read

            return handler._replace(unary_stream=stream)
        return handler

    def _count_request(self, method: str, request: Any) -> None:
        self._add(REQUESTS)
        if method == "Commit":
            deleted = sum(bool(write.delete) for write in request.writes)
            self._add(DELETES, deleted)
            self._add(WRITES, len(request.writes) - deleted)
            # a commit of several documents is one, whether or not anything was read in it
            self._add(TRANSACTIONS, bool(request.transaction) or len(request.writes) > 1)
        elif method == "BatchGetDocuments":
            self._add(BATCH_READS)
            self._add(READS, len(request.documents))
        elif method == "RunQuery":
            self._add(QUERIES)
        elif method == "RunAggregationQuery":
            self._add(READS)  # one for each thousand entries counted
        elif method == "AccessSecretVersion":
            self._add(ACCESSES)
        elif method.endswith(("Task", "Tasks")):
            self._add(TASKS)

    def _add(self, kind: str, by: int = 1) -> None:
        self._counts[self._function, kind] += by

"""The Firestore side of the campaign: what is read and written is counted, and some answers are lost on their way."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

import grpc

ANSWERS_LOST = 0.03
"""The share of the commits whose answer is lost, after they were made or before."""


class CountingInterceptor(grpc.aio.ServerInterceptor):  # type: ignore[misc]  # grpc has no types
    """Counts documents read, and writes by document and second of `second`; loses answers while `random_` is set."""

    def __init__(self, second: Callable[[], int] = lambda: 0) -> None:
        self.second = second
        self.random_: random.Random | None = None
        self.reads = 0
        self.lost = 0
        self.writes: defaultdict[str, Counter[int]] = defaultdict(Counter)

    @property
    def hottest(self) -> tuple[int, str]:
        """The most writes of one document of usage within a second, and its name."""
        most = [(max(seconds.values()), name) for name, seconds in self.writes.items() if "/usage/" in name]
        return max(most, default=(0, ""))

    async def intercept_service(self, continuation: Callable[[Any], Awaitable[Any]], details: Any) -> Any:
        handler = await continuation(details)
        method = details.method.rpartition("/")[2]
        if handler is None or handler.stream_stream or handler.stream_unary:
            return handler
        if handler.unary_stream:

            async def answers(request: Any, context: Any) -> Any:
                if method == "BatchGetDocuments":
                    self.reads += len(request.documents)
                async for item in handler.unary_stream(request, context):
                    self.reads += method == "RunQuery" and bool(item.document.name)
                    yield item

            return handler._replace(unary_stream=answers)

        async def answer(request: Any, context: Any) -> Any:
            loses = method == "Commit" and self.random_ is not None and self.random_.random() < ANSWERS_LOST
            if loses and self.random_ is not None and self.random_.random() < 0.5:
                self.lost += 1
                await context.abort(grpc.StatusCode.ABORTED, "injected")
            answered = await handler.unary_unary(request, context)
            if method == "Commit":
                for write in request.writes:
                    self.writes[write.update.name or write.delete][self.second()] += 1
            if loses:
                self.lost += 1
                await context.abort(grpc.StatusCode.UNAVAILABLE, "injected")
            return answered

        return handler._replace(unary_unary=answer)

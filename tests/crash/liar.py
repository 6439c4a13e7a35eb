"""A liar before Firestore: one call of a run fails, is aborted, or is carried out and answered with an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
from grpc import StatusCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Lie:
    """What is said of a call instead of its answer; `done` tells that it was carried out all the same."""

    code: StatusCode
    done: bool = False

    def __str__(self) -> str:
        return f"{self.code.name}{' but done' if self.done else ''}"


LIES: dict[str, tuple[Lie, ...]] = {
    "BeginTransaction": (Lie(code=StatusCode.UNAVAILABLE), Lie(code=StatusCode.ABORTED)),
    "Rollback": (Lie(code=StatusCode.UNAVAILABLE), Lie(code=StatusCode.ABORTED)),
    "Commit": (
        Lie(code=StatusCode.ABORTED),
        Lie(code=StatusCode.UNAVAILABLE),
        Lie(code=StatusCode.DEADLINE_EXCEEDED),
        Lie(code=StatusCode.UNAVAILABLE, done=True),
        Lie(code=StatusCode.DEADLINE_EXCEEDED, done=True),
    ),
    "BatchGetDocuments": (Lie(code=StatusCode.UNAVAILABLE), Lie(code=StatusCode.RESOURCE_EXHAUSTED)),
    "RunQuery": (Lie(code=StatusCode.UNAVAILABLE), Lie(code=StatusCode.RESOURCE_EXHAUSTED)),
}
"""What may be said of each call: where the client asks again by itself, and where it does not."""


@dataclass
class Liar(grpc.aio.ServerInterceptor):
    """Counts the calls by name; lies once, at the `nth` call of a name."""

    seen: Counter[str] = field(default_factory=Counter)
    told: bool = False
    _about: tuple[str, int, Lie] | None = None
    _over: bool = True

    def begin(self, about: tuple[str, int, Lie] | None) -> None:
        """Start counting anew, and lie about this call."""
        self.seen.clear()
        self._about, self.told, self._over = about, False, False

    def end(self) -> None:
        """Count no more, and lie no more."""
        self._over = True

    async def intercept_service(self, continuation: Callable[[Any], Awaitable[Any]], details: Any) -> Any:
        handler = await continuation(details)
        name = details.method.rpartition("/")[2]
        wire = {"request_deserializer": handler.request_deserializer, "response_serializer": handler.response_serializer}
        if handler.unary_unary is not None:

            async def answer(request: Any, context: Any) -> Any:
                lie = self._lie(name)
                if lie is None or lie.done:
                    answered = await handler.unary_unary(request, context)
                if lie is not None:
                    await context.abort(lie.code, "a lie")
                return answered

            return grpc.unary_unary_rpc_method_handler(answer, **wire)
        if handler.unary_stream is not None:

            async def answers(request: Any, context: Any) -> AsyncIterator[Any]:
                lie = self._lie(name)
                if lie is not None:
                    await context.abort(lie.code, "a lie")
                async for each in handler.unary_stream(request, context):
                    yield each

            return grpc.unary_stream_rpc_method_handler(answers, **wire)
        return handler

    def _lie(self, name: str) -> Lie | None:
        if self._over:
            return None
        nth = self.seen[name]
        self.seen[name] += 1
        if self._about is None or self._about[:2] != (name, nth):
            return None
        self.told = True
        return self._about[2]

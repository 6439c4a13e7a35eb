"""The fault injector: one Firestore call of a run fails, is aborted, or is executed and answered with an error."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
from grpc import StatusCode


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectedFault:
    """The error that answers a call; `done`: the call was executed all the same."""

    code: StatusCode
    done: bool = False

    def __str__(self) -> str:
        return f"{self.code.name}{' but done' if self.done else ''}"


READING = (InjectedFault(code=StatusCode.UNAVAILABLE), InjectedFault(code=StatusCode.RESOURCE_EXHAUSTED))

FAULTS: dict[str, tuple[InjectedFault, ...]] = {
    "BeginTransaction": (InjectedFault(code=StatusCode.UNAVAILABLE), InjectedFault(code=StatusCode.ABORTED)),
    "Rollback": (InjectedFault(code=StatusCode.UNAVAILABLE), InjectedFault(code=StatusCode.ABORTED)),
    "Commit": (
        InjectedFault(code=StatusCode.ABORTED),
        InjectedFault(code=StatusCode.UNAVAILABLE),
        InjectedFault(code=StatusCode.DEADLINE_EXCEEDED),
        InjectedFault(code=StatusCode.UNAVAILABLE, done=True),
        InjectedFault(code=StatusCode.DEADLINE_EXCEEDED, done=True),
    ),
    **dict.fromkeys(("BatchGetDocuments", "RunQuery", "RunAggregationQuery", "ListDocuments"), READING),
}
"""The errors that each call may be answered with: some the client retries, others it does not."""


@dataclass
class FaultInjector(grpc.aio.ServerInterceptor):
    """Counts the calls by name, and injects one fault, at the `nth` call of a name."""

    seen: Counter[str] = field(default_factory=Counter)
    fired: bool = False
    _about: tuple[str, int, InjectedFault] | None = None
    _over: bool = True

    def begin(self, about: tuple[str, int, InjectedFault] | None) -> None:
        """Reset the counts, and answer this call with this fault."""
        self.seen.clear()
        self._about, self.fired, self._over = about, False, False

    def end(self) -> None:
        """Stop counting and injecting."""
        self._over = True

    async def intercept_service(self, continuation: Callable[[Any], Awaitable[Any]], details: Any) -> Any:
        handler = await continuation(details)
        name = details.method.rpartition("/")[2]
        wire = {"request_deserializer": handler.request_deserializer, "response_serializer": handler.response_serializer}
        if handler.unary_unary is not None:

            async def answer(request: Any, context: Any) -> Any:
                fault = self._fault(name)
                if fault is None or fault.done:
                    answered = await handler.unary_unary(request, context)
                if fault is not None:
                    await context.abort(fault.code, "an injected fault")
                return answered

            return grpc.unary_unary_rpc_method_handler(answer, **wire)
        if handler.unary_stream is not None:

            async def answers(request: Any, context: Any) -> AsyncIterator[Any]:
                fault = self._fault(name)
                if fault is not None:
                    await context.abort(fault.code, "an injected fault")
                async for item in handler.unary_stream(request, context):
                    yield item

            return grpc.unary_stream_rpc_method_handler(answers, **wire)
        return handler

    def _fault(self, name: str) -> InjectedFault | None:
        if self._over:
            return None
        nth = self.seen[name]
        self.seen[name] += 1
        if self._about is None or self._about[:2] != (name, nth):
            return None
        self.fired = True
        return self._about[2]

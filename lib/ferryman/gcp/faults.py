"""Faults: what Google's clients raise when a service cannot answer now, as the house calls it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from ferryman.ports import Unavailable

Kind = TypeVar("Kind", bound=type)

PASSING = frozenset(
    (
        "Aborted",
        "BadGateway",
        "Cancelled",
        "DeadlineExceeded",
        "GatewayTimeout",
        "InternalServerError",
        "ResourceExhausted",
        "RetryError",
        "ServiceUnavailable",
        "TooManyRequests",
    )
)
"""Errors of google.api_core that trying again later can cure, by name: the library is not imported to ask."""

_CONTENDED = "Failed to commit transaction"


def translated(kind: Kind) -> Kind:
    """The class, with every public coroutine raising `Unavailable` for a passing fault of the service behind it."""
    for name, member in list(vars(kind).items()):
        if inspect.iscoroutinefunction(member) and not name.startswith("_"):
            setattr(kind, name, _translated(member))
    return kind


def _translated(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(method)
    async def translating(*given: Any, **named: Any) -> Any:
        try:
            return await method(*given, **named)
        except Exception as error:
            if passing(error):
                raise Unavailable(f"Google Cloud did not answer ({type(error).__name__})") from error
            raise

    return translating


def passing(error: BaseException) -> bool:
    """Whether `error` is a fault that passes. A transaction that lost every attempt is a bare ValueError of the client's."""
    if any(each.__name__ in PASSING and each.__module__.startswith("google.") for each in type(error).__mro__):
        return True
    return type(error) is ValueError and str(error).startswith(_CONTENDED)

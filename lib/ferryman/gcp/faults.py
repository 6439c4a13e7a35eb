"""Faults: what Google's clients raise when a service cannot answer now, as the house calls it."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

from ferryman.ports.errors import UnavailableError

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
_NOT_BEGUN = "The transaction has no transaction ID"
_CLOSED = "referenced transaction"


def translate_errors(kind: Kind) -> Kind:
    """The class, with every public coroutine raising `UnavailableError` for a passing fault of the service behind it."""
    for name, member in list(vars(kind).items()):
        if inspect.iscoroutinefunction(member) and not name.startswith("_"):
            setattr(kind, name, _translate_method(member))
    return kind


def _translate_method(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(method)
    async def translating(*given: Any, **named: Any) -> Any:
        handled = sys.exc_info()[1]
        try:
            return await method(*given, **named)
        except Exception as error:
            found = list(_iterate_causes(error, handled))
            if not _is_client_error(found[-1]) and found[-1] is not error:
                raise found[-1] from None
            if any(is_transient(each) for each in found):
                raise UnavailableError(f"Google Cloud did not answer ({type(found[-1]).__name__})") from error
            raise

    return translating


def _iterate_causes(error: BaseException, handled: BaseException | None) -> Iterator[BaseException]:
    """`error` and what it hides, down to what was `handled` when the method was called.

    The client rolls back after whatever ended a transaction, and where that fails too, its failure is what comes up.
    """
    yield error
    while _is_client_error(error) and error.__context__ is not None and error.__context__ is not handled:
        error = error.__context__
        yield error


def _is_client_error(error: BaseException) -> bool:
    if type(error) is ValueError:
        return str(error).startswith((_CONTENDED, _NOT_BEGUN))
    return type(error).__module__.startswith(("google.", "grpc"))


def is_transient(error: BaseException) -> bool:
    """Whether `error` is a fault that passes.

    A transaction that lost every attempt is a bare ValueError of the client's. One that is closed, as its own client finds,
    was committed without the client's hearing of it, or it was let expire: what is stored tells.
    """
    kinds = {each.__name__ for each in type(error).__mro__ if each.__module__.startswith("google.")}
    if "InvalidArgument" in kinds:
        return _CLOSED in str(error)
    if kinds & PASSING:
        return True
    return type(error) is ValueError and str(error).startswith(_CONTENDED)

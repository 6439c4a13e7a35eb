"""Transient faults of Google's services, raised by their clients and translated to `UnavailableError`."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

from ferryman.ports.errors import UnavailableError

Kind = TypeVar("Kind", bound=type)

TRANSIENT = frozenset(
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
    """Make every public coroutine of the class raise `UnavailableError` for a transient fault of its service."""
    for name, member in list(vars(kind).items()):
        if inspect.iscoroutinefunction(member) and not name.startswith("_"):
            setattr(kind, name, _translate_method(member))
    return kind


def _translate_method(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(method)
    async def translating(*args: Any, **named: Any) -> Any:
        handled = sys.exc_info()[1]
        try:
            return await method(*args, **named)
        except Exception as error:
            causes = list(_iterate_causes(error, handled))
            if not _is_client_error(causes[-1]) and causes[-1] is not error:
                raise causes[-1] from None
            if any(is_transient(cause) for cause in causes):
                raise UnavailableError(f"Google Cloud did not answer ({type(causes[-1]).__name__})") from error
            raise

    return translating


def _iterate_causes(error: BaseException, handled: BaseException | None) -> Iterator[BaseException]:
    """Yield `error` and the errors it hides, down to the one that was `handled` when the method was called.

    The client rolls back after the error that ended a transaction; where that fails too, the second error hides the first.
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
    """Return whether `error` is a transient fault.

    A transaction that lost every attempt is a bare ValueError of the client's. One that is closed when its client continues
    was committed, with the answer lost, or has expired: the stored document tells which.
    """
    kinds = {base.__name__ for base in type(error).__mro__ if base.__module__.startswith("google.")}
    if "InvalidArgument" in kinds:
        return _CLOSED in str(error)
    if kinds & TRANSIENT:
        return True
    return type(error) is ValueError and str(error).startswith(_CONTENDED)

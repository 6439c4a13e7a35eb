"""Errors of the client: what the service refused, with the fields of its problem (RFC 9457), and that nobody was reached."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

AGAIN_S_MAX = 30.0
"""How many seconds a busy service is waited for at most, whatever it asks for."""


class FieldError(NamedTuple):
    """A field that is not accepted, as a dotted path, and what would be."""

    field: str
    message: str


class ApiError(RuntimeError):
    """Any error of the client."""


class ApiUnreachableError(ApiError):
    """Nobody answers at the service's URL, or the connection broke."""


class ApiRefusedError(ApiError):
    """The service answered with a problem: `type`, `title`, `status`, `detail`, and `errors`, which name the fields.

    After `after_s` seconds it asks to be tried again: at most 30, and 0 where it does not say.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        errors: tuple[FieldError, ...] = (),
        after_s: float = 0.0,
        *,
        title: str = "",
        type: str = "about:blank",  # noqa: A002 - the member's name in RFC 9457
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = errors
        self.after_s = after_s
        self.title = title
        self.type = type

    def __str__(self) -> str:
        return "; ".join([self.detail, *(f"{error.field}: {error.message}" for error in self.errors)])


class ApiInvalidError(ApiRefusedError):
    """400, 413, 415 or 422: the request cannot be read, or some of its `errors` fields are not accepted."""


class ApiUnauthorizedError(ApiRefusedError):
    """401: the API key is nobody's, or is one no longer: it was revoked, it has expired, or its person has left."""


class ApiForbiddenError(ApiRefusedError):
    """403: the request lacks a right, which `detail` names, or the owner's plan has no such thing."""


class ApiNotFoundError(ApiRefusedError):
    """404: there is no such thing in the workspace that the request acts in."""


class ApiConflictError(ApiRefusedError):
    """409: the request conflicts with the present state."""


class ApiRateLimitedError(ApiRefusedError):
    """429: a limit is reached; nothing was done, and a retry is worthwhile after `after_s` seconds."""


class ApiFailedError(ApiRefusedError):
    """5xx: the service, or one behind it, failed."""


_KINDS: Mapping[int, type[ApiRefusedError]] = {
    **dict.fromkeys((400, 413, 415, 422), ApiInvalidError),
    401: ApiUnauthorizedError,
    403: ApiForbiddenError,
    404: ApiNotFoundError,
    409: ApiConflictError,
    429: ApiRateLimitedError,
}


def read_after_s(headers: Mapping[str, str]) -> float:
    """Return after how many seconds the service asks to be tried again: at most 30, and 0 where it does not say."""
    text = headers.get("retry-after", "")
    return min(float(text), AGAIN_S_MAX) if text.isascii() and text.isdigit() else 0.0


def parse_problem(status: int, headers: Mapping[str, str], content: bytes) -> ApiRefusedError:
    """Return the error for an answer that is one, whatever its body. Names of `headers` are in lower case."""
    kind = _KINDS.get(status, ApiFailedError if status >= 500 else ApiRefusedError)
    after_s = read_after_s(headers)
    try:
        problem: Any = json.loads(content)
        errors = tuple(FieldError(str(error["field"]), str(error["message"])) for error in problem.get("errors", ()))
        detail, title = str(problem.get("detail") or problem["title"]), str(problem.get("title", ""))
        return kind(status, detail, errors, after_s, title=title, type=str(problem.get("type", "about:blank")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return kind(status, f"the service answered {status}", after_s=after_s)

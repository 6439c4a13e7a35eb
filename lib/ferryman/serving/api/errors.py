"""Errors: how an exception of ours becomes a problem in the answer; none repeats what was sent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ferryman.domain.owners.idempotency import InProgressError
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.problem import InvalidInputError, Problem
from ferryman.domain.stale import StaleError
from ferryman.ports.errors import UnavailableError
from ferryman.serving.problems import create_problem, get_title

IN_PROGRESS_S = 2
"""After how many seconds a request that is under way is worth asking for again."""

_FIELD = re.compile(r"[a-z][a-z_]{0,39}|[0-9]{1,4}", re.ASCII)
FAULTS_MAX = 100
"""Fields that are not accepted, as they are listed; there may be more."""

_SOURCES = ("body", "query", "path", "header")
_WORDS = {"missing": "is required", "extra_forbidden": "is not a field that is known here"}


class NotFoundError(HTTPException):
    """404: there is no such thing, or it belongs to another owner; the two answers are the same."""

    def __init__(self, noun: str) -> None:
        super().__init__(404, f"there is no such {noun}")


class ConflictError(HTTPException):
    """409: the request conflicts with the present state; `detail` says how and never repeats what was sent."""

    def __init__(self, detail: str) -> None:
        super().__init__(409, detail)


class TooManyRequestsError(HTTPException):
    """429: the owner has reached a limit, which `detail` names. Nothing was done; a retry is worthwhile after `after_s`
    seconds."""

    def __init__(self, detail: str, *, after_s: int) -> None:
        super().__init__(429, detail, {"Retry-After": str(after_s)})


def register_handlers(app: FastAPI) -> None:
    """Register handlers with which `app` answers each of our exceptions as a problem (RFC 9457)."""

    @app.exception_handler(HTTPException)
    async def answer_http_error(request: Request, error: HTTPException) -> Response:
        detail = {404: "there is nothing here", 405: "this method is not served here"}
        is_ours = error.detail != get_title(error.status_code)
        text = error.detail if is_ours else detail.get(error.status_code, error.detail)
        headers = {"Allow": _served(app, request)} if error.status_code == 405 else error.headers
        return create_problem(error.status_code, get_title(error.status_code), text, headers=headers)

    @app.exception_handler(RequestValidationError)
    async def answer_unreadable(_: Request, error: RequestValidationError) -> Response:
        faults = error.errors()
        if any(fault["type"] == "json_invalid" for fault in faults):
            return create_problem(400, get_title(400), "the body is not valid JSON")
        return respond_invalid([_fault(fault) for fault in faults[:FAULTS_MAX]])

    @app.exception_handler(InvalidInputError)
    async def answer_invalid(_: Request, error: InvalidInputError) -> Response:
        return respond_invalid(error.problems)

    @app.exception_handler(StaleError)
    async def answer_stale(_: Request, error: StaleError) -> Response:
        return create_problem(409, get_title(409), f"{error}; try again")

    @app.exception_handler(LimitReachedError)
    async def answer_limit(_: Request, error: LimitReachedError) -> Response:
        return create_problem(409, get_title(409), str(error))

    @app.exception_handler(InProgressError)
    async def answer_in_progress(_: Request, __: InProgressError) -> Response:
        detail = "a request with this Idempotency-Key is under way; ask again for its answer"
        return create_problem(409, get_title(409), detail, headers={"Retry-After": str(IN_PROGRESS_S)})

    @app.exception_handler(UnavailableError)
    async def answer_unavailable(_: Request, error: UnavailableError) -> Response:
        after = str(max(1, round(error.after_s or 1)))
        detail = "a service behind this one does not answer; try again"
        return create_problem(503, get_title(503), detail, headers={"Retry-After": after})


def respond_invalid(problems: Sequence[Problem]) -> Response:
    """Return 422 with every field that is not accepted."""
    return create_problem(422, get_title(422), "some fields are not accepted; nothing was done", errors=problems)


def _served(app: FastAPI, request: Request) -> str:
    """Return the methods of the request's path, over all routes; a route on its own only knows those it serves itself."""
    paths = app.openapi()["paths"]
    here = [methods for path, methods in paths.items() if _is_at(path, request.url.path)]
    return ", ".join(sorted({method.upper() for methods in here for method in methods}))


def _is_at(route: str, path: str) -> bool:
    """Return whether `path` is one of `route`, whose parameters are segments in braces."""
    route_parts, path_parts = route.split("/"), path.split("/")
    return len(route_parts) == len(path_parts) and all(
        segment != "" if name.startswith("{") else segment == name
        for name, segment in zip(route_parts, path_parts, strict=True)
    )


def _fault(error: dict[str, Any]) -> Problem:
    source, *path = [str(part) for part in error["loc"]]
    if source not in _SOURCES:
        path = [source, *path]
    # a field nobody knows is the client's own text: it is repeated only where it looks like a field's name
    named = ".".join(part if _FIELD.fullmatch(part) else "?" for part in path)
    message = _WORDS.get(error["type"]) or str(error["msg"]).replace("Input should", "should", 1)
    return Problem(field=named or source, message=message)

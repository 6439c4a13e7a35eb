"""Errors: how an exception of ours becomes a problem in the answer; none repeats what was sent."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import compile_path

from ferryman.domain.owners.idempotency import InProgressError
from ferryman.domain.owners.limit import LimitReachedError
from ferryman.domain.problem import InvalidInputError, Problem
from ferryman.domain.stale import StaleError
from ferryman.domain.workspaces.agent import AgentGoneError
from ferryman.domain.workspaces.workspace import WorkspaceClosedError, WorkspaceGoneError
from ferryman.ports.errors import UnavailableError
from ferryman.serving.problems import create_problem, get_title

IN_PROGRESS_S = 2
"""After how many seconds a request that is under way is worth asking for again."""

_FIELD = re.compile(r"[a-z][a-zA-Z_]{0,39}|[0-9]{1,4}", re.ASCII)
FAULTS_MAX = 100
"""How many of the fields that are not accepted are listed."""

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
    for kind, respond in _RESPONSES.items():
        app.add_exception_handler(kind, partial(_answer, respond))


async def _answer(respond: Callable[[Request, Any], Response], request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException) and error.status_code == 405:
        # which methods there are is read from the description, which is made at its first use
        await asyncio.to_thread(request.app.openapi)
    return respond(request, error)


def _respond_http(request: Request, error: HTTPException) -> Response:
    detail = {404: "there is nothing here", 405: "this method is not served here"}
    is_ours = error.detail != get_title(error.status_code)
    text = error.detail if is_ours else detail.get(error.status_code, error.detail)
    headers = error.headers
    if error.status_code == 405 and (methods := _list_methods(request)):
        headers = {"Allow": methods}
    return create_problem(error.status_code, text, headers=headers)


def _respond_unreadable(_: Request, error: RequestValidationError) -> Response:
    faults = error.errors()
    if any(fault["type"] == "json_invalid" for fault in faults):
        return create_problem(400, "the body is not valid JSON")
    return respond_invalid([read_fault(fault) for fault in faults[:FAULTS_MAX]])


def _respond_in_progress(_: Request, __: InProgressError) -> Response:
    detail = "a request with this Idempotency-Key is under way; ask again for its answer"
    return create_problem(409, detail, headers={"Retry-After": str(IN_PROGRESS_S)})


def _respond_unavailable(_: Request, error: UnavailableError) -> Response:
    after = str(max(1, round(error.after_s or 1)))
    return create_problem(503, "a service behind this one does not answer; try again", headers={"Retry-After": after})


def respond_invalid(problems: Sequence[Problem]) -> Response:
    """Return 422 with every field that is not accepted."""
    return create_problem(422, "some fields are not accepted; nothing was done", errors=problems)


_RESPONSES: dict[type[Exception], Callable[[Request, Any], Response]] = {
    HTTPException: _respond_http,
    RequestValidationError: _respond_unreadable,
    InvalidInputError: lambda _, error: respond_invalid(error.problems),
    StaleError: lambda _, error: create_problem(409, f"{error}; try again"),
    WorkspaceGoneError: lambda _, __: create_problem(404, "there is no such workspace"),
    AgentGoneError: lambda _, __: create_problem(404, "there is no such agent"),
    WorkspaceClosedError: lambda _, error: create_problem(409, str(error)),
    LimitReachedError: lambda _, error: create_problem(409, str(error)),
    InProgressError: _respond_in_progress,
    UnavailableError: _respond_unavailable,
}


def _list_methods(request: Request) -> str:
    """Return the methods of the request's path, over all routes; a route on its own only knows those it serves itself."""
    paths = request.app.openapi()["paths"]
    # the name of a cluster is any text, as its route has it
    patterns = {
        path: compile_path(
            path.replace("/cluster/{name}", "/cluster/{name:text}").replace("/files/{key}", "/files/{key:path}")
        )[0]
        for path in paths
    }
    here = [path for path in paths if patterns[path].fullmatch(request.url.path)]
    # a word of ours in a place where names may be is no name
    literal = min((path.count("{") for path in here), default=0)
    return ", ".join(sorted({method.upper() for path in here if path.count("{") == literal for method in paths[path]}))


def read_fault(error: dict[str, Any]) -> Problem:
    """Return one of pydantic's errors as a problem."""
    # a body that is read without FastAPI, and is no object, has no place
    source, *path = [str(part) for part in error["loc"]] or ["body"]
    if source not in _SOURCES:
        path = [source, *path]
    # a field nobody knows is the client's own text: it is repeated only where it looks like a field's name
    named = ".".join(part if _FIELD.fullmatch(part) else "?" for part in path)
    message = _WORDS.get(error["type"]) or str(error["msg"]).replace("Input should", "should", 1)
    return Problem(field=named or source, message=message)

"""Faults: how what goes wrong inside becomes a problem outside; nothing of what was sent stands in one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ferryman.domain.problem import Invalid, Problem
from ferryman.ports import Stale, Unavailable
from ferryman.serving.problems import problem, title_of

_FIELD = re.compile(r"[a-z][a-z_]{0,39}|[0-9]{1,4}", re.ASCII)
_SOURCES = ("body", "query", "path", "header")
_WORDS = {"missing": "is required", "extra_forbidden": "is not a field that is known here"}


def not_found(noun: str) -> HTTPException:
    """There is no such thing, or it is another owner's: the two look the same."""
    return HTTPException(404, f"there is no such {noun}")


def conflict(said: str) -> HTTPException:
    """What is asked for cannot be done as things stand; `said` is why, in words of ours."""
    return HTTPException(409, said)


def register(app: FastAPI) -> None:
    """Have `app` answer every exception of the house as a problem."""

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        detail = {404: "there is nothing here", 405: "this method is not served here"}
        own = error.detail != title_of(error.status_code)
        said = error.detail if own else detail.get(error.status_code, error.detail)
        headers = {"Allow": _served(app, request)} if error.status_code == 405 else error.headers
        return problem(error.status_code, title_of(error.status_code), said, headers=headers)

    @app.exception_handler(RequestValidationError)
    async def unreadable(_: Request, error: RequestValidationError) -> Response:
        found = error.errors()
        if any(each["type"] == "json_invalid" for each in found):
            return problem(400, title_of(400), "the body is not valid JSON")
        return invalid([_fault(each) for each in found])

    @app.exception_handler(Invalid)
    async def unaccepted(_: Request, error: Invalid) -> Response:
        return invalid(error.problems)

    @app.exception_handler(Stale)
    async def conflicting(_: Request, error: Stale) -> Response:
        return problem(409, title_of(409), f"{error}; try again")

    @app.exception_handler(Unavailable)
    async def unavailable(_: Request, error: Unavailable) -> Response:
        after = str(max(1, round(error.after_s or 1)))
        said = "a service behind this one does not answer; try again"
        return problem(503, title_of(503), said, headers={"Retry-After": after})


def invalid(problems: Sequence[Problem]) -> Response:
    """422 with every field that is not accepted."""
    return problem(422, title_of(422), "some fields are not accepted; nothing was done", errors=problems)


def _served(app: FastAPI, request: Request) -> str:
    """The methods of the request's path, over all routes; a route on its own only knows those it serves itself."""
    paths = app.openapi()["paths"]
    here = [methods for path, methods in paths.items() if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), request.url.path)]
    return ", ".join(sorted({method.upper() for methods in here for method in methods}))


def _fault(error: dict[str, Any]) -> Problem:
    source, *path = [str(each) for each in error["loc"]]
    if source not in _SOURCES:
        path = [source, *path]
    # a field nobody knows is the client's own text: it is repeated only where it looks like a field's name
    named = ".".join(each if _FIELD.fullmatch(each) else "?" for each in path)
    message = _WORDS.get(error["type"]) or str(error["msg"]).replace("Input should", "should", 1)
    return Problem(field=named or source, message=message)

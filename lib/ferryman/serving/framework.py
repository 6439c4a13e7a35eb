"""What functions-framework serves, with every path and every method led to the function.

By itself it answers a path with a line break, a method that it does not list, /robots.txt and /favicon.ico with plain text,
before the function is asked. Here the function answers whatever comes: with a problem where it serves nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from functions_framework import aio
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope


class WholeApplication(Starlette):
    """An application of functions-framework with one route: the function, for everything. `begin` is called once it serves."""

    def __init__(self, begin: Callable[[], None], *, routes: Sequence[Route], **rest: Any) -> None:
        @asynccontextmanager
        async def serve(_: Starlette) -> AsyncIterator[None]:
            begin()
            yield

        # the last of its own leads to the function
        super().__init__(routes=[_EveryRequest(routes[-1])], lifespan=serve, **rest)


class _EveryRequest(BaseRoute):
    """A route that matches every request, of any path and method."""

    def __init__(self, function: Route) -> None:
        self.handle = function.app  # type: ignore[method-assign, assignment] # called as `handle` is

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        return (Match.FULL, {"path_params": {}}) if scope["type"] == "http" else (Match.NONE, {})


def lead_everything(begin: Callable[[], None]) -> None:
    """Have functions-framework build its application so, from now on; it does when the function's module has been loaded."""
    aio.Starlette = partial(WholeApplication, begin)  # type: ignore[attr-defined, assignment] # it has no parameter for it

"""search as a function: it runs one search at the operator's endpoint, and knows neither tickets nor tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from ferryman.serving import entry
from ferryman.serving.entry import Handler
from ferryman.serving.local_call import answer_call
from ferryman.settings import Settings

if TYPE_CHECKING:
    from ferryman.composition.search import SearchFunction


def build_function(known: Settings) -> SearchFunction:
    """Return what the function is made of."""
    from ferryman.composition.search import SearchFunction

    return SearchFunction(known)


def serve(build: Callable[[Settings], SearchFunction] = build_function) -> Handler:
    """Return the function's `main`: POST / runs a tool with its arguments, for a user.

    200 with `content` and the `code` of a failure or null, whatever the engine does; 400 for another body, 401 or 403 for the
    wrong caller.
    """
    return entry.serve(build, _answer, entry.allow_callers)


async def _answer(function: SearchFunction, request: Request) -> Response:
    return await answer_call(function, request, begin=lambda _: function.engine, end=lambda _engine, _failed: {})

"""concierge as a function: it runs one local function with a unit of work over its user's documents, and stores nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from ferryman.serving import entry
from ferryman.serving.entry import Handler
from ferryman.serving.local_call import answer_call
from ferryman.settings import Settings

if TYPE_CHECKING:
    from ferryman.composition.concierge import ConciergeFunction
    from ferryman.tools.concierge.unit_of_work import UnitOfWork


def build_function(known: Settings) -> ConciergeFunction:
    """Return what the function is made of."""
    from ferryman.composition.concierge import ConciergeFunction

    function = ConciergeFunction(known)
    function.load()
    return function


def serve(build: Callable[[Settings], ConciergeFunction] = build_function) -> Handler:
    """Return the function's `main`: POST / runs a tool with its arguments, for a user.

    200 with `content`, `code` and `changes`, whatever the tool did; 400 for another body, 401 or 403 for the wrong caller.
    """
    return entry.serve(build, _answer, entry.allow_callers)


async def _answer(function: ConciergeFunction, request: Request) -> Response:
    from ferryman.tools.concierge.unit_of_work import UnitOfWork

    return await answer_call(function, request, begin=lambda user: UnitOfWork(function.documents, user), end=_close)


def _close(db: UnitOfWork, failed: bool) -> dict[str, Any]:
    from ferryman.domain.owners.user_changes import write_changes

    return {"changes": write_changes(db.close(failed=failed))}

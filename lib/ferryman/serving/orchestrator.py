"""The orchestrator as a function: Cloud Tasks delivers an execution or a timer, and hears whether to deliver it again."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ferryman import settings
from ferryman.domain.firing import Fire
from ferryman.gcp.log import JsonLog
from ferryman.loop.run import deliver
from ferryman.schedules.fire import fire
from ferryman.schedules.sweep import sweep
from ferryman.serving.entry import Handler, body_of, called_by, http, opened
from ferryman.serving.problems import problem
from ferryman.wiring.orchestrator import Orchestrator


def serve(build: Callable[[settings.Settings], Orchestrator] = Orchestrator) -> Handler:
    """The function's `main`. 200: the queue may forget this delivery; 503: deliver it again; 4xx: it was not the queue."""
    known = opened()
    built: list[Orchestrator] = []

    async def handle(request: Request) -> Response:
        if not built:
            built.append(build(known))
        house = built[0]
        await called_by(request, house.callers, known.callers, known)
        delivered = await PATHS.get(request.url.path, _execution)(house, request)
        await house.loop.tracer.flush()
        if delivered:
            return JSONResponse({"delivered": True})
        again = problem(503, "Service Unavailable", "this is not finished; deliver it again")
        again.headers["Retry-After"] = str(int(known.retry_after_s))
        return again

    return http(handle, JsonLog())


async def _execution(house: Orchestrator, request: Request) -> bool:
    body = await body_of(request, execution=str, slice=int)
    holder = f"{request.headers.get('x-cloudtasks-taskname', 'unnamed')}/{secrets.token_hex(4)}"
    return await deliver(house.loop, body["execution"], slice=body["slice"], holder=holder)


async def _fire(house: Orchestrator, request: Request) -> bool:
    body = await body_of(request, task=str, generation=int, at=int)
    return await fire(house.schedules, Fire(task=body["task"], generation=body["generation"], at=_moment(body["at"])))


async def _sweep(house: Orchestrator, request: Request) -> bool:
    body = await body_of(request, at=int)
    await sweep(house.schedules, at=_moment(body["at"]))
    return True


def _moment(epoch: int) -> datetime:
    return datetime.fromtimestamp(epoch, UTC)


PATHS = {"/fire": _fire, "/sweep": _sweep}
"""What else is delivered besides executions, which come to the function's own URL."""

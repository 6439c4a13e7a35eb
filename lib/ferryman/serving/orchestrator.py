"""The orchestrator as a function: Cloud Tasks delivers executions, timers and jobs, and is told whether to repeat one.

The API has an execution delivered, too, and is sent what the model writes meanwhile: on a path of its own, and on no other.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ferryman import settings
from ferryman.serving import entry
from ferryman.serving.delivery_stream import DeliveryStream, StreamAudience
from ferryman.serving.entry import Handler, read_body
from ferryman.serving.faults import describe_fault
from ferryman.serving.lazy_root import import_ahead
from ferryman.serving.problems import create_problem

if TYPE_CHECKING:
    from ferryman.composition.orchestrator import OrchestratorFunction


def build_function(known: settings.Settings) -> OrchestratorFunction:
    """Return what the function is made of. The model's SDK takes as long to import as all the rest: that goes on while an
    execution is claimed and set up."""
    from ferryman.composition.orchestrator import OrchestratorFunction

    function = OrchestratorFunction(known)
    function.load()
    import_ahead(function.model.load)
    return function


def serve(build: Callable[[settings.Settings], OrchestratorFunction] = build_function) -> Handler:
    """Return the function's `main`. 200: the queue may forget the delivery; 503: deliver it again; 4xx: not from the queue."""
    return entry.serve(build, _answer, _allow)


def _allow(known: settings.Settings, path: str) -> tuple[str, ...]:
    return known.streamers if path == STREAM_PATH else known.callers


async def _answer(function: OrchestratorFunction, request: Request) -> Response:
    if request.url.path == STREAM_PATH:
        return await _stream(function, request)
    is_delivered = await ROUTES.get(request.url.path, _deliver)(function, request)
    await function.loop.tracer.flush()
    if is_delivered:
        return JSONResponse({"delivered": True})
    headers = {"Retry-After": str(int(function.retry_after_s))}
    return create_problem(503, "this is not finished; deliver it again", headers=headers)


async def _stream(function: OrchestratorFunction, request: Request) -> Response:
    """Deliver an execution as a task of the queue does, and stream what the model writes. The queue's own task stays as it is:
    who comes second finds the execution taken, and whatever is left of it is the queue's."""
    from ferryman.loop.run import deliver

    body = await read_body(request, execution=str, slice=int)
    loop, holder = function.loop, _name_holder(request)

    async def deliver_to(audience: StreamAudience) -> None:
        execution, slice = body["execution"], body["slice"]
        try:
            if not await deliver(loop, execution, slice=slice, holder=holder, audience=audience):
                after = timedelta(seconds=function.retry_after_s)
                await loop.queue.enqueue(execution, slice=slice, after=after, wake_up="relay")
        except Exception as fault:  # noqa: BLE001 - the queue's own task is there, too; a traceback may hold what was sent
            loop.log("function.fault", **describe_fault(fault), severity="ERROR")
        await loop.tracer.flush()

    return DeliveryStream(deliver_to)


async def _deliver(function: OrchestratorFunction, request: Request) -> bool:
    from ferryman.loop.run import deliver

    body = await read_body(request, execution=str, slice=int, waits=int)
    holder = _name_holder(request)
    return await deliver(function.loop, body["execution"], slice=body["slice"], holder=holder, waits=body["waits"])


async def _fire(function: OrchestratorFunction, request: Request) -> bool:
    from ferryman.domain.tasks.firing import Fire
    from ferryman.schedules.fire import fire

    body = await read_body(request, task=str, generation=int, at=int)
    return await fire(function.schedules, Fire(task=body["task"], generation=body["generation"], at=_parse_time(body["at"])))


async def _sweep(function: OrchestratorFunction, request: Request) -> bool:
    from ferryman.alerts.dispatch import sweep as sweep_alerts
    from ferryman.metering.roll_up import sweep as sweep_usage
    from ferryman.schedules.fire import sweep

    body = await read_body(request, at=int)
    await sweep(function.schedules, at=_parse_time(body["at"]))
    await sweep_alerts(function.alerts)
    await sweep_usage(function.metering)
    return True


async def _work(function: OrchestratorFunction, request: Request) -> bool:
    from ferryman.jobs.run import deliver

    body = await read_body(request, job=str, slice=int)
    return await deliver(function.jobs, body["job"], slice=body["slice"], holder=_name_holder(request))


def _name_holder(request: Request) -> str:
    return f"{request.headers.get('x-cloudtasks-taskname', 'unnamed')}/{secrets.token_hex(4)}"


async def _alert(function: OrchestratorFunction, request: Request) -> bool:
    from ferryman.alerts.dispatch import deliver

    body = await read_body(request, alert=str)
    return await deliver(function.alerts, body["alert"])


async def _roll_up(function: OrchestratorFunction, request: Request) -> bool:
    from ferryman.metering.roll_up import deliver

    body = await read_body(request, workspace=str, number=int, slice=int)
    return await deliver(function.metering, body["workspace"], number=body["number"], slice=body["slice"])


async def _expire(function: OrchestratorFunction, request: Request) -> bool:
    from ferryman.tools.keeping.expiry import deliver

    body = await read_body(request, workspace=str, owner=str, day=str, slice=int, cursor=str)
    try:
        day = date.fromisoformat(body.pop("day"))
    except ValueError:
        raise HTTPException(400, "day must be a date") from None
    # without a bucket there is nothing any more
    return function.expiry is None or await deliver(function.expiry, body.pop("workspace"), day=day, **body)


def _parse_time(epoch: int) -> datetime:
    return datetime.fromtimestamp(epoch, UTC)


STREAM_PATH = "/stream"
"""The path of the API, which is called on no other."""

ROUTES = {"/fire": _fire, "/sweep": _sweep, "/job": _work, "/alert": _alert, "/usage": _roll_up, "/kept": _expire}
"""The paths of timers, jobs, alerts, roll-ups and kept results; executions come to the function's own URL."""

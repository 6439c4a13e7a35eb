"""The queues on Cloud Tasks: executions to be carried on, and schedules to be fired."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from ferryman.domain.tasks.firing import Fire
from ferryman.gcp.cloud_tasks import CloudTasksClient
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.http import build_trace_headers
from ferryman.ports.queue import NOW
from ferryman.settings import Settings

DISPATCH_DEADLINE = timedelta(minutes=30)
"""The longest Cloud Tasks waits for one delivery's answer."""


@translate_errors
class CloudTasksQueue:
    """`ports.Queue`: one named task per execution and slice, so that enqueuing it again changes nothing."""

    def __init__(self, clients: CloudTasksClient, settings: Settings, traceparent: Callable[[], str] = str) -> None:
        self._clients = clients
        self._settings = settings
        self._traceparent = traceparent

    async def enqueue(
        self,
        execution: str,
        *,
        slice: int,
        after: timedelta = NOW,
        nudge: str = "",
        waits: int = 0,
    ) -> None:
        name = f"{execution}-{slice}" + (f"-{nudge}" if nudge else "") + (f"-wait{waits}" if waits else "")
        due = datetime.now(UTC) + after if after > NOW else None
        body = {"execution": execution, "slice": slice, "waits": waits}
        await _create_task(self._clients, self._settings, self._settings.queue, name, body, due=due, trace=self._traceparent())


@translate_errors
class CloudTasksTimers:
    """`ports.Timers`: one named task per time or hop, and one per window of the sweep."""

    def __init__(self, clients: CloudTasksClient, settings: Settings, traceparent: Callable[[], str] = str) -> None:
        self._clients = clients
        self._settings = settings
        self._traceparent = traceparent

    async def set(self, fire: Fire, *, due: datetime, nudge: str = "") -> None:
        name = f"{fire.task}-{fire.generation}-{_to_epoch_s(due)}" + (f"-{nudge}" if nudge else "")
        body = {"task": fire.task, "generation": fire.generation, "at": _to_epoch_s(fire.at)}
        await self._create(name, body, path="/fire", due=due)

    async def sweep(self, *, due: datetime) -> None:
        await self._create(f"sweep-{_to_epoch_s(due)}", {"at": _to_epoch_s(due)}, path="/sweep", due=due)

    async def _create(self, name: str, body: Mapping[str, Any], *, path: str, due: datetime) -> None:
        queue, trace = self._settings.schedules_queue, self._traceparent()
        await _create_task(self._clients, self._settings, queue, name, body, path=path, due=due, trace=trace)


async def _create_task(
    clients: CloudTasksClient,
    settings: Settings,
    queue: str,
    name: str,
    body: Mapping[str, Any],
    *,
    path: str = "",
    due: datetime | None = None,
    trace: str = "",
) -> None:
    """A named task for the orchestrator, now or when it is `due`; one of this name that is or was there changes nothing."""
    from google.api_core.exceptions import AlreadyExists
    from google.cloud import tasks_v2

    url = settings.function_urls["orchestrator"]
    parent = f"projects/{settings.project}/locations/{settings.location}/queues/{queue}"
    task = tasks_v2.Task(
        name=f"{parent}/tasks/{name}",
        dispatch_deadline=DISPATCH_DEADLINE,
        http_request=tasks_v2.HttpRequest(
            url=url.rstrip("/") + path if path else url,
            http_method=tasks_v2.HttpMethod.POST,
            headers={"Content-Type": "application/json", **build_trace_headers(trace)},
            body=json.dumps(body).encode(),
            oidc_token=tasks_v2.OidcToken(service_account_email=settings.queue_caller, audience=url),
        ),
    )
    if due is not None:
        scheduled: Any = due  # the wrapper takes a datetime where its stub names the message
        task.schedule_time = scheduled
    try:
        await clients.tasks().create_task(parent=parent, task=task)
    except AlreadyExists:
        return


def _to_epoch_s(moment: datetime) -> int:
    return int(moment.timestamp())

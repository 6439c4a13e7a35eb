"""The queues on Cloud Tasks: deliveries of executions, jobs, alerts, roll-ups; timers of schedules and kept results."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from ferryman.domain.tasks.firing import Fire
from ferryman.gcp.cloud_tasks import CloudTasksClient
from ferryman.gcp.faults import translate_errors
from ferryman.gcp.http import build_trace_headers
from ferryman.ports.queue import NOW
from ferryman.settings import Settings

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)
"""The ids that a queued task can be named after. An application's document may have any other, and is told so when it comes."""

DISPATCH_DEADLINE = timedelta(minutes=30)
"""The longest Cloud Tasks waits for one delivery's answer."""


class _CloudTasksStore:
    def __init__(self, clients: CloudTasksClient, settings: Settings, traceparent: Callable[[], str] = str) -> None:
        self._clients = clients
        self._settings = settings
        self._traceparent = traceparent

    async def _create(
        self, queue: str, name: str, body: Mapping[str, Any], *, path: str = "", due: datetime | None = None
    ) -> None:
        """Create a named task for the orchestrator, now or when it is `due`; where the name is or was used, change nothing."""
        from google.api_core.exceptions import AlreadyExists
        from google.cloud import tasks_v2

        settings = self._settings
        url = settings.function_urls["orchestrator"]
        parent = f"projects/{settings.project}/locations/{settings.location}/queues/{queue}"
        task = tasks_v2.Task(
            name=f"{parent}/tasks/{name}",
            dispatch_deadline=DISPATCH_DEADLINE,
            http_request=tasks_v2.HttpRequest(
                url=url.rstrip("/") + path if path else url,
                http_method=tasks_v2.HttpMethod.POST,
                headers={"Content-Type": "application/json", **build_trace_headers(self._traceparent())},
                body=json.dumps(body).encode(),
                oidc_token=tasks_v2.OidcToken(service_account_email=settings.queue_caller, audience=url),
            ),
        )
        if due is not None:
            scheduled: Any = due  # the wrapper takes a datetime where its stub names the message
            task.schedule_time = scheduled
        with suppress(AlreadyExists):
            await self._clients.tasks().create_task(parent=parent, task=task)


@translate_errors
class CloudTasksQueue(_CloudTasksStore):
    """`ports.Queue`: one named task per execution and slice, so that enqueuing it again changes nothing."""

    async def enqueue(self, execution: str, *, slice: int, after: timedelta = NOW, wake_up: str = "", waits: int = 0) -> None:
        known = execution if _ID.fullmatch(execution) else hashlib.sha256(execution.encode(errors="replace")).hexdigest()
        name = f"{known}-{slice}" + (f"-{wake_up}" if wake_up else "") + (f"-wait{waits}" if waits else "")
        due = datetime.now(UTC) + after if after > NOW else None
        body = {"execution": execution, "slice": slice, "waits": waits}
        await self._create(self._settings.queue, name, body, due=due)


@translate_errors
class CloudTasksJobs(_CloudTasksStore):
    """`ports.JobQueue`: one named task per job and slice."""

    async def enqueue(self, job: str, *, slice: int, after: timedelta = NOW, wake_up: str = "") -> None:
        name = f"{job}-{slice}" + (f"-{wake_up}" if wake_up else "")
        due = datetime.now(UTC) + after if after > NOW else None
        await self._create(self._settings.queue, name, {"job": job, "slice": slice}, path="/job", due=due)


@translate_errors
class CloudTasksUsage(_CloudTasksStore):
    """`ports.UsageQueue`: one named task per workspace, round and slice."""

    async def enqueue(self, workspace: str, *, number: int, slice: int = 0, after: timedelta = NOW) -> None:
        name = f"usage-{workspace}-{number}-{slice}"
        due = datetime.now(UTC) + after if after > NOW else None
        body = {"workspace": workspace, "number": number, "slice": slice}
        await self._create(self._settings.queue, name, body, path="/usage", due=due)


@translate_errors
class CloudTasksAlerts(_CloudTasksStore):
    """`ports.AlertQueue`: one named task per alert and attempt."""

    async def enqueue(self, alert: str, *, attempt: int = 0, after: timedelta = NOW, wake_up: str = "") -> None:
        name = f"{alert}-{attempt}" + (f"-{wake_up}" if wake_up else "")
        due = datetime.now(UTC) + after if after > NOW else None
        await self._create(self._settings.queue, name, {"alert": alert}, path="/alert", due=due)


@translate_errors
class CloudTasksKept(_CloudTasksStore):
    """`ports.KeptTimers`: one named task per workspace, day and slice; each workspace has its own time of the day."""

    async def set(self, workspace: str, *, owner: str, day: date, slice: int = 0, cursor: str = "") -> None:
        seconds = int.from_bytes(hashlib.sha256(workspace.encode()).digest()[:4], "big") % 86_400
        due = datetime.combine(day, time(), UTC) + timedelta(seconds=seconds)
        body = {"workspace": workspace, "owner": owner, "day": day.isoformat(), "slice": slice, "cursor": cursor}
        name = f"kept-{workspace}-{day:%Y-%m-%d}-{slice}"
        # a time that is over is now
        await self._create(self._settings.schedules_queue, name, body, path="/kept", due=due if slice == 0 else None)


@translate_errors
class CloudTasksTimers(_CloudTasksStore):
    """`ports.Timers`: one named task per time or hop, and one per window of the sweep."""

    async def set(self, fire: Fire, *, due: datetime, wake_up: str = "") -> None:
        name = f"{fire.task}-{fire.generation}-{_to_epoch_s(due)}" + (f"-{wake_up}" if wake_up else "")
        body = {"task": fire.task, "generation": fire.generation, "at": _to_epoch_s(fire.at)}
        await self._create(self._settings.schedules_queue, name, body, path="/fire", due=due)

    async def sweep(self, *, due: datetime) -> None:
        body = {"at": _to_epoch_s(due)}
        await self._create(self._settings.schedules_queue, f"sweep-{_to_epoch_s(due)}", body, path="/sweep", due=due)


def _to_epoch_s(moment: datetime) -> int:
    return int(moment.timestamp())

"""The executions queue on Cloud Tasks."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from ferryman.gcp.clients import Clients
from ferryman.gcp.faults import translated
from ferryman.gcp.http import traced
from ferryman.ports import NOW
from ferryman.settings import Settings

DISPATCH_DEADLINE = timedelta(minutes=30)
"""The longest Cloud Tasks waits for one delivery's answer."""


@translated
class CloudTasksQueue:
    """`ports.Queue`: one named task per execution and slice, so that enqueuing it again changes nothing."""

    def __init__(self, clients: Clients, settings: Settings, traceparent: Callable[[], str] = str) -> None:
        self._clients = clients
        self._settings = settings
        self._traceparent = traceparent

    async def enqueue(
        self,
        execution: str,
        *,
        slice: int,  # noqa: A002 - the field's own word
        after: timedelta = NOW,
        nudge: str = "",
    ) -> None:
        from google.api_core.exceptions import AlreadyExists
        from google.cloud import tasks_v2

        settings = self._settings
        url = settings.function_urls["orchestrator"]
        parent = f"projects/{settings.project}/locations/{settings.location}/queues/{settings.queue}"
        task = tasks_v2.Task(
            name=f"{parent}/tasks/{execution}-{slice}" + (f"-{nudge}" if nudge else ""),
            dispatch_deadline=DISPATCH_DEADLINE,
            http_request=tasks_v2.HttpRequest(
                url=url,
                http_method=tasks_v2.HttpMethod.POST,
                headers={"Content-Type": "application/json", **traced(self._traceparent())},
                body=json.dumps({"execution": execution, "slice": slice}).encode(),
                oidc_token=tasks_v2.OidcToken(service_account_email=settings.queue_caller, audience=url),
            ),
        )
        if after > NOW:
            scheduled: Any = datetime.now(UTC) + after  # the wrapper takes a datetime where its stub names the message
            task.schedule_time = scheduled
        try:
            await self._clients.tasks().create_task(parent=parent, task=task)
        except AlreadyExists:
            return

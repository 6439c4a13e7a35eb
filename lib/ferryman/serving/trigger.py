"""on_execution as a function: an execution document appeared, whoever wrote it, and it is put into the queue."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from functions_framework import aio

from ferryman import settings
from ferryman.ports import Queue, Tracer
from ferryman.wiring.trigger import build as wired

_DOCUMENT = re.compile(r"executions/([A-Za-z0-9_-]{1,128})")


def serve(build: Callable[[settings.Settings], tuple[Queue, Tracer]] = wired) -> Any:
    """The function's `main`. It returns for an event it cannot read, which would otherwise be redelivered for a day."""
    known = settings.read()
    built: list[tuple[Queue, Tracer]] = []

    async def main(event: Any) -> None:
        if not built:
            built.append(build(known))
        queue, tracer = built[0]
        name = str(event.get_attributes().get("document") or event.get_attributes().get("subject") or "")
        match = _DOCUMENT.fullmatch(name.removeprefix("documents/"))
        if match is None:
            tracer.line("event.unreadable", severity="WARNING")
            return
        await queue.enqueue(match[1], slice=0)
        tracer.line("execution.enqueued", execution=match[1])

    return aio.cloud_event(main)

"""The composition root of `files`: the tools of files, and the bucket. It has no key of a task, no model, no store."""

from __future__ import annotations

import asyncio

from ferryman.composition.objects import build_objects, build_wire
from ferryman.gcp.clock import SystemClock
from ferryman.gcp.http import HttpClient
from ferryman.gcp.identity import TokenCallers
from ferryman.gcp.log import JsonLog
from ferryman.settings import MisconfiguredError, Settings
from ferryman.telemetry.traces import OtelTracer
from ferryman.tools.files.workspace_files import WorkspaceFiles
from ferryman.tools.own_files import load_own_files

TOOLS = load_own_files("ferryman.tools.files")
"""The tools of files; each registers itself when it is imported (S2-24)."""

UPLOADS_AT_ONCE = 4
"""Contents of at most 30 MiB that are in memory at once, each of them twice for a moment: an instance has 512 MiB."""


class FilesFunction:
    """What the function is made of. Raise `MisconfiguredError` where no bucket is named: nothing calls it then."""

    def __init__(self, settings: Settings) -> None:
        OtelTracer.load()
        TokenCallers.load()
        self.callers = TokenCallers(HttpClient(local=settings.local), settings)
        self.tracer = OtelTracer(JsonLog(), settings)
        objects = build_objects(settings, build_wire(settings), SystemClock())
        if objects is None:
            raise MisconfiguredError("FERRYMAN_OBJECTS_BUCKET or the five variables of a bucket of S3 must be set for files")
        self.files = WorkspaceFiles(objects)
        self.direct_links = settings.direct_links
        self.uploads = asyncio.Semaphore(UPLOADS_AT_ONCE)

    async def warm(self) -> None:
        """Do nothing: a first request connects within a millisecond or two."""

"""The composition root of `local_tools`: the local functions and the check of the caller. It has no key, no model, no store."""

from __future__ import annotations

from ferryman.gcp.http import HttpClient
from ferryman.gcp.identity import TokenCallers
from ferryman.gcp.log import JsonLog
from ferryman.settings import Settings
from ferryman.telemetry.traces import OtelTracer
from ferryman.tools.own_files import load_own_files

TOOLS = load_own_files("ferryman.tools.local_function")
"""The local functions that need no store; each registers itself when it is imported (S2-24)."""


class LocalToolsFunction:
    """What the function is made of."""

    def __init__(self, settings: Settings) -> None:
        OtelTracer.load()
        self.callers = TokenCallers(HttpClient(local=settings.local), settings)
        self.tracer = OtelTracer(JsonLog(), settings)

    async def warm(self) -> None:
        """Do nothing: there is nothing to connect to, and what a tool has to read is read at its first call."""

"""The composition root of `search`: the tool, the operator's search engine, the check of the caller. No key, no store."""

from __future__ import annotations

from ferryman.gcp.http import HttpClient
from ferryman.gcp.identity import TokenCallers
from ferryman.gcp.log import JsonLog
from ferryman.searxng.client import SearxngEngine
from ferryman.settings import Settings
from ferryman.telemetry.traces import OtelTracer
from ferryman.tools.own_files import load_own_files

TOOLS = load_own_files("ferryman.tools.search")
"""The tools; each registers itself when it is imported."""


class SearchFunction:
    """What the function is made of."""

    def __init__(self, settings: Settings) -> None:
        OtelTracer.load()
        self.callers = TokenCallers(HttpClient(local=settings.local), settings)
        self.tracer = OtelTracer(JsonLog(), settings)
        self.engine = SearxngEngine(settings.searxng_endpoint)

    async def warm(self) -> None:
        """Do nothing: the engine is asked when there is something to search for."""

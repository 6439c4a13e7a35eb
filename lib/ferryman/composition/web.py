"""The composition root of `web`: the way to public pages, and the check of the caller. It has no key, no model, no store."""

from __future__ import annotations

from ferryman.egress.public import build_public_pages
from ferryman.gcp.http import HttpClient
from ferryman.gcp.identity import TokenCallers
from ferryman.gcp.log import JsonLog
from ferryman.settings import Settings
from ferryman.telemetry.traces import OtelTracer


class WebFunction:
    """What the function is made of."""

    def __init__(self, settings: Settings) -> None:
        OtelTracer.load()
        self.callers = TokenCallers(HttpClient(local=settings.local), settings)
        self.tracer = OtelTracer(JsonLog(), settings)
        self.pages = build_public_pages(settings)
        self.page_bytes_max = settings.page_bytes_max

    async def warm(self) -> None:
        """Do nothing: there is nothing to connect to."""

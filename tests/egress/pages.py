"""A simulated internet of pages, and what fetches them there."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emulator.clock import EmulatorClock
from emulator.internet import Internet
from emulator.internet.routes import read_route
from ferryman.domain.http.url import parse_page_url
from ferryman.egress.public import PublicPages
from ferryman.egress.simulated import SimulatedInternet
from ferryman.egress.tls import create_context
from ferryman.ports.public_pages import FetchedPage, PageRequest


@dataclass
class PageStage:
    """Sites, what fetches from them, and what they received."""

    internet: Internet
    pages: PublicPages

    def serve(self, host: str, *routes: Mapping[str, Any], **about: Any) -> None:
        """Let a host answer."""
        self.internet.can(host, [read_route(route, "route") for route in routes], **about)

    async def fetch(self, url: str, **about: Any) -> FetchedPage:
        """Fetch one page."""
        values: dict[str, Any] = {"owner": "ann", "body_max": 204_800, "within_s": 10.0, **about}
        return await self.pages.fetch(PageRequest(url=parse_page_url(url), **values))

    @property
    def received(self) -> list[str]:
        """The requests that arrived anywhere, as `host path?query`, oldest first."""
        requests = self.internet.requests()
        return [f"{request.host} {request.path}{'?' + request.query if request.query else ''}" for request in requests]


@asynccontextmanager
async def stage_pages(folder: Path, *, robots: bool = False) -> Any:
    """Yield a stage whose internet is served until the block ends."""
    internet = Internet(folder, clock=EmulatorClock())
    simulated = SimulatedInternet(internet.table)
    table = simulated.read_table()
    pages = PublicPages(names=simulated, dial=simulated, tls=create_context(table.ca, table.client), robots=robots)
    await internet.start()
    try:
        yield PageStage(internet, pages)
    finally:
        await internet.close()

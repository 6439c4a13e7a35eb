"""The port of public pages: what is asked for, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from ferryman.domain.http.request import InboundResponse
from ferryman.domain.http.url import URL


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedPage:
    """The last response, the URL that it answers, and its header `content-type`."""

    url: URL
    media_type: str
    inbound: InboundResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """What is asked for: at most `body_max` decoded bytes within `within_s` seconds, robots.txt and redirects included.

    `admits` tells whether a redirect may lead to a host; None: to any. Lookups count among those of `owner`.
    """

    url: URL = field(repr=False)
    owner: str
    body_max: int
    within_s: float
    admits: Callable[[str], bool] | None = None


class Pages(Protocol):
    """Fetches public pages, each redirect checked like a first request."""

    async def fetch(self, request: PageRequest) -> FetchedPage:
        """Return the page. Raise `CallRefusedError`."""

"""Pages without a network: every URL answers the same text, unless another is given for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ferryman.domain.calls.keyless_answer import KeylessAnswer, read_answer
from ferryman.domain.http.request import InboundResponse
from ferryman.ports.public_pages import FetchedPage, PageRequest
from ferryman.tools.web.web_fetch import web_fetch

BODY = b"The night ferry leaves at ten."


class PlainPages:
    """`ports.Pages`."""

    def __init__(self, body: bytes = BODY) -> None:
        self._body = body

    async def fetch(self, request: PageRequest) -> FetchedPage:
        inbound = InboundResponse(status=200, headers=(), body=self._body, size_bytes=len(self._body))
        return FetchedPage(url=request.url, media_type="text/plain", inbound=inbound)


async def ask_web(body: Mapping[str, Any], pages: PlainPages | None = None) -> KeylessAnswer:
    """Return what the function `web` answers."""
    return read_answer(await web_fetch(pages or PlainPages(), body, ceiling=1_000_000))

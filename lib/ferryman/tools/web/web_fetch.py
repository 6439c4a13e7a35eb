"""The tool `web_fetch`: a public page, fetched and read as text (S4-34 … S4-41)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.calls.url_origin import UrlOrigin
from ferryman.domain.http.host import is_covered
from ferryman.domain.http.request import InboundResponse
from ferryman.domain.http.status import get_code, is_error
from ferryman.pages import read_excerpt
from ferryman.ports.public_pages import FetchedPage, PageRequest, Pages
from ferryman.tools.web.arguments import FetchArguments, read_fetch_arguments

ERROR_CHARACTERS_MAX = 256
"""How much of a page is shown whose status is an error (S4-41)."""

EMPTY = "The page is empty."
_DELIMITERS = b' \t\r\n"<>'
"""What no URL holds: a body that is cut ends after one of these, so that no URL in it is cut."""


async def web_fetch(pages: Pages, body: Mapping[str, Any], *, ceiling: int) -> dict[str, Any]:
    """Return the answer to a call: `content`, `code`, and what was sent and received (`KeylessAnswer`).

    `body` has the call's `arguments`, `user` and `within_s`, and what the hook added: `origin`, `anywhere`, `domains`, and
    `most`, the characters of the text that are answered.
    """
    origin, domains = UrlOrigin(body["origin"]), body["domains"]
    admits = None if body["anywhere"] else partial(is_covered, domains)
    try:
        fetch = read_fetch_arguments(body["arguments"], ceiling=ceiling, within_s=body["within_s"])
        size, within_s = fetch.read_more(origin, ceiling=ceiling)
        page = await pages.fetch(
            PageRequest(
                url=fetch.url,
                owner=body["user"],
                body_max=size,
                within_s=min(within_s, body["within_s"]),
                admits=admits,
            )
        )
    except CallRefusedError as refused:
        return {"content": refused.refusal.message, "code": refused.refusal.reason}
    return {**await _read_page(page, fetch, body["user"], body["most"]), **_report(page)}


async def _read_page(page: FetchedPage, fetch: FetchArguments, owner: str, most: int) -> dict[str, Any]:
    inbound = page.inbound
    content, note = _cut_body(inbound, fetch.bytes_max)
    excerpt = await read_excerpt(owner, content, page.media_type, str(page.url), fetch.offset, note=note, most=most)
    if is_error(inbound.status):
        return {"content": excerpt.text[:ERROR_CHARACTERS_MAX], "code": get_code(inbound.status)}
    return {"content": excerpt.text or EMPTY, "code": None, "truncated": excerpt.offset is not None or bool(note)}


def _report(page: FetchedPage) -> dict[str, Any]:
    inbound = page.inbound
    return {
        "url": str(page.url),
        "method": "GET",
        "response_status": inbound.status,
        "response_size_bytes": inbound.size_bytes,
    }


def _cut_body(inbound: InboundResponse, most: int) -> tuple[bytes, str]:
    """Return at most `most` bytes of the body, and a note where there are more."""
    if not inbound.cut and len(inbound.body) <= most:
        return inbound.body, ""
    body = inbound.body[:most]
    end = max(body.rfind(bytes((delimiter,))) for delimiter in _DELIMITERS) + 1
    return body[:end], f"only the first {end:,} bytes were read: max_bytes says how many"

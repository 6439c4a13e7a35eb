"""The arguments of `web_fetch`: read with the limits of S4-36 … S4-38, and what a site may notice of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ferryman.domain.calls import refusal
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.calls.url_origin import UrlOrigin
from ferryman.domain.http.url import URL, InvalidUrlError, parse_page_url

TOOL = "web_fetch"
BYTES_DEFAULT = 204_800
SECONDS_DEFAULT, SECONDS_MAX = 10.0, 60.0
READING_S = 15.0
"""How long a fetched page may be read, with what its function needs besides."""

OFFSET_MAX = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchArguments:
    """What a call asks for: at most `bytes_max` of the page, within `within_s` seconds, from `offset` of its text on."""

    url: URL
    bytes_max: int
    within_s: float
    offset: int

    def read_more(self, origin: UrlOrigin, *, ceiling: int) -> tuple[int, float]:
        """Return how many bytes are read from the site, and for how many seconds it is waited for.

        A site sees where its page is read to, and when it is given up. So that a call says nothing more by that than yes or no,
        bytes are those of the default or all, and so are the seconds for a URL that was only shown.
        """
        size = BYTES_DEFAULT if self.bytes_max <= BYTES_DEFAULT else ceiling
        if origin is not UrlOrigin.RESULT:
            return size, self.within_s
        return size, SECONDS_DEFAULT if self.within_s <= SECONDS_DEFAULT else SECONDS_MAX


def read_fetch_arguments(arguments: Mapping[str, Any], *, ceiling: int, within_s: float) -> FetchArguments:
    """Return the arguments with their defaults; `ceiling` is the most bytes of a page, `within_s` the most seconds.

    Above a limit, the limit holds; 0 and less means the default (S4-38). Raise `CallRefusedError`.
    """
    raw = arguments.get("url")
    if not isinstance(raw, str):
        raise CallRefusedError(refusal.refuse_missing_argument(TOOL, "url"))
    try:
        url = parse_page_url(raw.strip())
    except InvalidUrlError as error:
        raise CallRefusedError(refusal.refuse_malformed_url(str(error))) from None
    seconds = _read_number(arguments, "timeout_seconds")
    size, offset = _read_number(arguments, "max_bytes"), _read_number(arguments, "offset")
    return FetchArguments(
        url=url,
        bytes_max=int(min(size if size > 0 else BYTES_DEFAULT, ceiling)),
        within_s=min(seconds if seconds > 0 else SECONDS_DEFAULT, SECONDS_MAX, within_s),
        offset=int(min(max(offset, 0), OFFSET_MAX)),
    )


def _read_number(arguments: Mapping[str, Any], name: str) -> float:
    value = arguments.get(name)
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise CallRefusedError(refusal.refuse_wrong_argument(TOOL, name, "a number"))
    return value

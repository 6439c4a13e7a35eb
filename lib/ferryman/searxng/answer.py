"""Reading of an answer of SearXNG: JSON of strangers, whatever it holds, becomes results of bounded length."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ferryman import offload
from ferryman.domain.http.links import resolve
from ferryman.domain.search import (
    ENGINE_CHARACTERS_MAX,
    SNIPPET_CHARACTERS_MAX,
    TITLE_CHARACTERS_MAX,
    URL_CHARACTERS_MAX,
    FoundPage,
)
from ferryman.framing.frame import remove_invisible

ELLIPSIS = "…"
MARK_CHARACTERS = 40
MARK_SIGNS = "<[{&"
"""With what marks begin that chats and frames have, and how long they are at most."""

_NAME = re.compile(r"[\w .…-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """What an answer holds: its results, and how many of the engines behind did not answer."""

    results: tuple[FoundPage, ...]
    unresponsive: int


def read_answer(content: bytes, most: int) -> SearchAnswer | None:
    """Return the first `most` results of an answer, no page twice; None where it is no answer of SearXNG in JSON.

    Rows without a title or a URL of the web are left out (S4-46). For a worker process, and pure.
    """
    try:
        document = json.loads(content.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    rows = document.get("results") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        return None
    pages: dict[str, FoundPage] = {}
    for result in _read_rows(rows):
        pages.setdefault(_name_page(result.url), result)
        if len(pages) == most:
            break
    unresponsive = document.get("unresponsive_engines")
    return SearchAnswer(results=tuple(pages.values()), unresponsive=len(unresponsive) if isinstance(unresponsive, list) else 0)


def _read_rows(rows: list[Any]) -> Iterator[FoundPage]:
    for row in rows:
        if not isinstance(row, Mapping):
            continue
        title, url = to_line(row.get("title"), TITLE_CHARACTERS_MAX), _read_url(row.get("url"))
        if title and url:
            snippet = to_line(row.get("content"), SNIPPET_CHARACTERS_MAX)
            engine = to_line(row.get("engine"), ENGINE_CHARACTERS_MAX)
            engine = engine if _NAME.fullmatch(engine) else ""
            yield FoundPage(title=title, url=url, snippet=snippet, engine=engine)


def to_line(value: Any, characters: int) -> str:
    """Return `value` as one line of visible characters, cut to `characters` with an ellipsis; "" where it is not a text."""
    if not isinstance(value, str):
        return ""
    # more than is shown, since white space and invisible characters go; never all of it, which may be megabytes
    start = value[: 4 * characters]
    line = " ".join(remove_invisible(start).split())
    return line if len(line) <= characters and len(start) == len(value) else _truncate(line, characters - 1) + ELLIPSIS


def _truncate(line: str, characters: int) -> str:
    """Return the beginning of a line, without the mark of a chat or a frame that the cut would halve: half of one passes."""
    beginning = line[:characters]
    begin = max(beginning.rfind(sign, max(0, characters - MARK_CHARACTERS)) for sign in MARK_SIGNS)
    return (beginning if begin < 0 else beginning[:begin]).rstrip()


def _read_url(value: Any) -> str | None:
    """Return a URL of the web in printable ASCII; None for any other, and for one with a name or a password in it."""
    if not isinstance(value, str) or len(value) > URL_CHARACTERS_MAX:
        return None
    url = resolve("", value)
    return url if url is not None and len(url) <= URL_CHARACTERS_MAX else None


def _name_page(url: str) -> str:
    """Return what is the same for all URLs of a page: without scheme, fragment and last slash, the host in lower case."""
    parts = urlsplit(url)
    return f"{parts.netloc.lower()}{parts.path.rstrip('/')}?{parts.query}"


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


offload.preload(read_answer)

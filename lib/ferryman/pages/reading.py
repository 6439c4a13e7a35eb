"""Reading a fetched body for a model: in a worker process, within a budget, and in parts of a bounded length."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ferryman import offload
from ferryman.domain.calls.call import TRUNCATED
from ferryman.offload import Budget
from ferryman.pages.page import PageText, read_page

EXCERPT_CHARACTERS_MAX = 30_000
"""Characters that a model is given at once, with all that is said about them, where what is longer is not kept."""

LINE_CHARACTERS = 1_000
"""How far back a part is ended at the end of a line."""

TAIL_CHARACTERS = 160
CONTENT_BYTES_MAX = 10_485_760
"""Bytes of a body that are read."""

BUDGET = Budget(cpu_s=6.0, wall_s=12.0, memory_bytes=256 * 1_048_576)
"""What one body may take: several times as much as a page of 10 MB does."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What a model is given of a text: `text`, and the `offset` at which it reads on, or None at the end."""

    text: str
    offset: int | None


async def read_excerpt(
    owner: str,
    content: bytes,
    content_type: str,
    url: str,
    offset: int = 0,
    *,
    note: str = "",
    most: int = EXCERPT_CHARACTERS_MAX,
    budget: Budget = BUDGET,
) -> Excerpt:
    """Return the part of a body at `offset`, in characters of its text, computed in a worker for `owner`: at most `most`.

    `url` is where the body came from, after redirects; `note` is added to what was left out of it. A body above the budget is
    told in a sentence. Raise `TooManyJobsError` where too many jobs of the owner wait, `JobFailedError` where one failed.
    """
    try:
        body = content[:CONTENT_BYTES_MAX]
        return await offload.run(owner, budget, read_excerpt_here, body, content_type, url, offset, note, most)
    except offload.OverBudgetError as error:
        return Excerpt(f"The {len(content):,} bytes cannot be read: {error}.", None)


def read_excerpt_here(
    content: bytes, content_type: str, url: str, offset: int = 0, note: str = "", most: int = EXCERPT_CHARACTERS_MAX
) -> Excerpt:
    """Return the part of a body at `offset`, computed in this process: for workers, and pure."""
    page = read_page(content, content_type, url)
    return cut_excerpt(write_page(replace(page, note="; ".join(part for part in (page.note, note) if part))), offset, most)


def write_page(page: PageText) -> str:
    """Return all there is to read: title, author and date above the text, and what was left out below it."""
    by = ", ".join(part for part in (page.byline, page.date) if part)
    parts = (f"# {page.title}" if page.title else "", by, page.text, f"({page.note})" if page.note else "")
    return "\n\n".join(part for part in parts if part)


def cut_excerpt(text: str, offset: int, most: int = EXCERPT_CHARACTERS_MAX) -> Excerpt:
    """Return the part of `text` at `offset`, at most `most` characters.

    All parts join to the whole text, apart from the notes at their ends.
    """
    offset = max(0, offset)
    if offset and offset >= len(text):
        return Excerpt(f"There is no more to read at offset {offset:,}: the text has {len(text):,} characters.", None)
    if len(text) - offset <= most:
        return Excerpt(text[offset:], None)
    end = offset + most - TAIL_CHARACTERS
    line = text.rfind("\n", end - LINE_CHARACTERS, end)
    if line >= 0:
        end = line + 1
    tail = f"\n{TRUNCATED}\nCharacters {offset} to {end} of {len(text)}. To read on, call it again with offset {end}."
    return Excerpt(text[offset:end] + tail, end)


offload.preload(read_excerpt_here)

"""Kept results: what a call read beyond what the model is shown at once becomes a file of its execution."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from ferryman.domain.calls.call import TRUNCATED, ToolCallResult
from ferryman.domain.calls.part import Part, PartKind

KEPT_BYTES_MAX = 512 * 1024
"""Of one result in UTF-8, with the line that tells what is missing after it."""

KEPT_TYPE = "text/plain; charset=utf-8"
FOLDER = "executions"
UNCHECKED = "it could not be checked for credentials"
"""Why a text is not kept that took too long to be scanned."""

ENDED_LATER = timedelta(days=1)
"""An execution that was created on one day has ended on the next at the latest."""


_KEY = re.compile(FOLDER + r"/([0-9]{4}-[0-9]{2}-[0-9]{2})/[^/]+/[0-9]+(?:-[0-9]+)?\.txt", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Overflow:
    """All of a text that is longer than the model is shown, without credentials, as it is stored in a file.

    Reading on begins at byte `offset`; `is_all` tells that there was no more than that.
    """

    content: bytes = field(repr=False)
    offset: int
    is_all: bool


def build_overflow(result: ToolCallResult, text: str, *, most: int, is_cut: bool, is_part: bool) -> Overflow:
    """Return what is kept of a scanned text, of which `result` shows at most `most` characters.

    `is_cut` tells that there was more to be scanned, `is_part` that not all was read of what there is. What is longer than
    `KEPT_BYTES_MAX`, or `is_cut` already, says so at its end. What was shown as it is stored is not read again: neutralizing
    may have changed the rest of the head.
    """
    offset = len(text[: count_same(_get_shown(result), text[:most])].encode(errors="replace"))
    content = text.encode(errors="replace")
    is_cut = is_cut or len(content) > KEPT_BYTES_MAX
    if is_cut:
        mark = f"\n{TRUNCATED} No more than {KEPT_BYTES_MAX:,} bytes of a result are kept.".encode()
        # what is left of a character at the cut goes
        content = content[: KEPT_BYTES_MAX - len(mark)].decode(errors="ignore").encode() + mark
    return Overflow(content=content, offset=offset, is_all=not is_cut and not is_part)


def add_file(result: ToolCallResult, overflow: Overflow, key: str) -> ToolCallResult:
    """Return a result with the line that names the file of its overflow and how to read on, and with its part.

    The part has the label of the result's others.
    """
    size = len(overflow.content)
    what = f"The whole text, {size:,} bytes, is" if overflow.is_all else f"The first {size:,} bytes are"
    how = json.dumps({"key": key, "offset": overflow.offset})
    line = f"\n{what} kept in a file. To read on: file_read {how}"
    part = Part(
        kind=PartKind.FILE,
        start=len(result.content) + 1,
        end=len(result.content) + len(line),
        media_type=KEPT_TYPE,
        size_bytes=size,
        sha256=hashlib.sha256(overflow.content).hexdigest(),
        file=key,
        label=result.parts[0].label,
    )
    return replace(result, content=result.content + line, parts=(*result.parts, part))


def tell_unkept(result: ToolCallResult, why: str) -> ToolCallResult:
    """Return a result with the line that says that only what it shows is there, and `why`, in our own words."""
    line = f"\nOnly {len(_get_shown(result)):,} characters are shown, and the rest is not kept: {why}."
    return replace(result, content=result.content + line)


def _get_shown(result: ToolCallResult) -> str:
    return result.content[result.parts[0].start : result.parts[0].end]


def count_same(text: str, other: str) -> int:
    """Return how many characters two texts begin with alike."""
    most = min(len(text), len(other))
    if text[:most] == other[:most]:
        return most
    return next(place for place in range(most) if text[place] != other[place])


def name_kept(execution: str, created: datetime, seq: int, attempt: int) -> tuple[str, str]:
    """Return the key of a call's file, and the name of the write that makes it.

    Each attempt has its own: what an earlier one read, whose outcome nobody knows, may be another text. Keys begin with the
    day (UTC) on which the execution was created, so that a list begins with the oldest.
    """
    number = str(seq) if attempt <= 1 else f"{seq}-{attempt}"
    return f"{FOLDER}/{created:%Y-%m-%d}/{execution}/{number}.txt", f"{execution}.{seq}.{max(1, attempt)}"


def find_expiry(key: str, period: timedelta) -> date | None:
    """Return the first day (UTC) on which a kept result is older than its execution may be, which is gone `period` after its
    end; None for a key that is no kept result's."""
    match = _KEY.fullmatch(key)
    try:
        return None if match is None else date.fromisoformat(match[1]) + period + ENDED_LATER + timedelta(days=1)
    except (ValueError, OverflowError):
        return None

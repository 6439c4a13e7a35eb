"""Kept results: what a call read beyond what the model is shown at once becomes a file of its execution."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from ferryman.domain.calls.call import TRUNCATED

KEPT_BYTES_MAX = 512 * 1024
"""Of one result in UTF-8, with the line that tells what is missing after it."""

KEPT_TYPE = "text/plain; charset=utf-8"
FOLDER = "executions"
ENDED_LATER = timedelta(days=1)
"""An execution that was created on one day has ended on the next at the latest."""


_KEY = re.compile(FOLDER + r"/([0-9]{4}-[0-9]{2}-[0-9]{2})/[^/]+/[0-9]+(?:-[0-9]+)?\.txt", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptResult:
    """The text of a result as it is stored in the file `key`; `is_cut` tells that there was more."""

    key: str
    content: bytes = field(repr=False)
    is_cut: bool

    @property
    def sha256(self) -> str:
        """The digest of the file, in hex."""
        return hashlib.sha256(self.content).hexdigest()

    def tell(self, offset: int, *, is_all: bool) -> str:
        """Return the line that names the file and how to read on from byte `offset`.

        `is_all` tells that the call read all that there was.
        """
        is_all = is_all and not self.is_cut
        what = f"The whole text, {len(self.content):,} bytes, is" if is_all else f"The first {len(self.content):,} bytes are"
        how = json.dumps({"key": self.key, "offset": offset})
        return f"\n{what} kept in a file. To read on: file_read {how}"


def build_kept(key: str, text: str, *, is_cut: bool) -> KeptResult:
    """Return `text` as it is stored, at most `KEPT_BYTES_MAX` bytes; what has more, or `is_cut` already, says so at its end."""
    encoded = text.encode(errors="replace")
    if not is_cut and len(encoded) <= KEPT_BYTES_MAX:
        return KeptResult(key=key, content=encoded, is_cut=False)
    mark = f"\n{TRUNCATED} No more than {KEPT_BYTES_MAX:,} bytes of a result are kept.".encode()
    # what is left of a character at the cut goes
    whole = encoded[: KEPT_BYTES_MAX - len(mark)].decode(errors="ignore").encode()
    return KeptResult(key=key, content=whole + mark, is_cut=True)


def tell_unkept(why: str, count: int) -> str:
    """Return the line that says that only `count` characters of a result are there, and `why`, in our own words."""
    return f"\nOnly {count:,} characters are shown, and the rest is not kept: {why}."


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

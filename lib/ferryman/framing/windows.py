"""Long texts, scanned in windows, since a key holder decodes so much at once; they overlap by more than a credential has."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ferryman.domain.calls.call import RESULT_CHARACTERS_MAX
from ferryman.domain.files.kept import KEPT_BYTES_MAX

CHARACTERS_READ = 65_536
"""Characters of a text that are scanned at once: those that the model is shown, and enough after them to find a credential at
the cut."""

OVERLAP = CHARACTERS_READ - RESULT_CHARACTERS_MAX
"""Characters that two windows share: as many as every response has beyond what is shown of it."""

SCANNED_MAX = KEPT_BYTES_MAX + OVERLAP
"""Characters that are scanned of a text: those that may be kept, and enough after them to find a credential at the cut."""

_PLACES = range(RESULT_CHARACTERS_MAX, OVERLAP, -3_001)
"""Where a window is divided that ends with a part of a credential: at the first of them that is within none."""

Scan = Callable[[str], Awaitable[str]]


class NotDividedError(Exception):
    """A window has credentials wherever it could be divided."""


async def scan_windows(text: str, scan: Scan, *, first: str | None = None) -> str:
    """Return a text without credentials; `first` is its beginning of `CHARACTERS_READ` as scanned, where that was done before.

    Each window begins with the end of the one before, as that was before it was scanned: of a credential that is cut there, the
    scan may have taken away the beginning, and without that nobody recognizes the rest. Where there is more of a text than is
    given, its last `OVERLAP` may be cut within one. Raise what `scan` does, and `NotDividedError`.
    """
    parts, start = list[str](), 0
    while True:
        window = text[start : start + CHARACTERS_READ]
        clean = first if first is not None and start == 0 else await scan(window)
        if start + CHARACTERS_READ >= len(text):
            return "".join((*parts, clean))
        if clean.endswith(window[-OVERLAP:]):
            head, place = clean[:-OVERLAP], RESULT_CHARACTERS_MAX
        else:
            head, place = await _divide(window, clean, scan)
        parts.append(head)
        start += place


async def _divide(window: str, clean: str, scan: Scan) -> tuple[str, int]:
    """Return the scanned beginning of a window up to a place within no credential, and that place."""
    for place in _PLACES:
        head = await scan(window[:place])
        if clean.startswith(head) and head + await scan(window[place:]) == clean:
            return head, place
        if head.endswith(window[place - OVERLAP : place]):  # where a credential is not located, all of its window goes
            return head[:-OVERLAP], place - OVERLAP
    raise NotDividedError

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


async def scan_windows(first: str, rest: str, scan: Callable[[str], Awaitable[str]]) -> str:
    """Return a text without credentials: `first` is its scanned beginning, `rest` is what follows and was not scanned.

    Each window begins with the end of the one before as that was scanned, so a credential across two windows is found in the
    later one. Where the text goes on after `rest`, the last `OVERLAP` may be cut within one. Raise what `scan` does.
    """
    parts, tail = list[str](), first
    for start in range(0, len(rest), RESULT_CHARACTERS_MAX):
        end = max(0, len(tail) - OVERLAP)
        parts.append(tail[:end])
        tail = await scan(tail[end:] + rest[start : start + RESULT_CHARACTERS_MAX])
    return "".join((*parts, tail))

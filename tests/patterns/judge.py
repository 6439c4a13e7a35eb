"""Judge a pattern: whether a text of its own characters makes it take more than linear time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from tests.linear import SIZES, Growth, find_growth, measure_cpu
from tests.patterns.collect import Use
from tests.patterns.texts import MIXTURES, texts

SMALL, LARGE = 512, 2_048
SUSPICIOUS = 6.5
"""Four times the text may take so much longer at a first look, before all sizes are measured: 2.6 for each doubling."""

FLOOR_S = 0.0002
"""What takes less for 2,048 characters takes, were it quadratic, less than 0.2 s for 65,536."""


SHORT = (16, 24, 32, 48, 64, 96, 128)
SHORT_S = 0.002
"""What so short a text takes is exponential where it takes longer."""


def find_slow_text(
    use: Use, *, all_sizes: bool = False, mixtures: int = MIXTURES
) -> tuple[Callable[[int], str], Growth] | None:
    """Return the first text for which the pattern takes more than linear time, with what was measured, or None.

    Without `all_sizes`, only texts that look suspicious at 2,048 characters are measured at every size.
    """
    apply = _application(use)
    for text_of in texts(use.pattern, mixtures):
        for size in SHORT:
            short = text_of(size)
            seconds = measure_cpu(lambda text=short: apply(text))  # type: ignore[misc]  # bound per turn
            if seconds > SHORT_S and measure_cpu(lambda text=short: apply(text), 3) > SHORT_S:  # type: ignore[misc]  # as above
                return text_of, Growth(size, seconds, float("inf"))
        if (all_sizes or _is_suspicious(apply, text_of)) and (growth := find_growth(apply, text_of, SIZES)):
            return text_of, growth
    return None


def _is_suspicious(apply: Callable[[str], object], text_of: Callable[[int], str]) -> bool:
    large, small = text_of(LARGE), text_of(SMALL)
    seconds = measure_cpu(lambda: apply(large))
    return seconds >= FLOOR_S and seconds >= SUSPICIOUS * measure_cpu(lambda: apply(small), 3)


def _application(use: Use) -> Callable[[str], object]:
    """Return what the library does with the pattern: the most costly of it, and any of it where that is not known."""
    pattern: Any = use.pattern
    if use.methods and use.methods <= {"match", "fullmatch"}:
        applied = pattern.fullmatch if use.methods == {"fullmatch"} else pattern.match
    elif use.methods == {"search"}:
        applied = pattern.search
    else:

        def applied(text: Any) -> None:
            deque(pattern.finditer(text), maxlen=0)

    if isinstance(pattern.pattern, bytes):
        return lambda text: applied(text.encode("latin-1", "replace"))
    return applied  # type: ignore[no-any-return]  # the pattern may be of bytes

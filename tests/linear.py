"""What doubling a text does to the time it takes: CPU time of this thread, judged only where there is enough of it.

A busy machine only ever adds to a measurement: the least of several counts, measured again before a text is judged.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

FACTOR_MAX = 2.6
"""How many times as long twice the text may take: linear is 2, quadratic 4."""

SIZES = (1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536)
FLOOR_S = 0.005
"""What takes less is not judged: the clock and the caches would be."""

REPEATS, TURNS = 5, 4
LONG_S = 0.2
"""What takes longer is measured fewer times: no machine is at fault for that."""


class Growth(NamedTuple):
    """How `seconds` for a text of `size` characters compare to those for half of it."""

    size: int
    seconds: float
    factor: float

    def __str__(self) -> str:
        return f"{self.size:,} characters take {self.seconds * 1_000:.1f} ms of CPU, {self.factor:.1f} times half of them"


def measure_cpu(action: Callable[[], object], repeats: int = 1) -> float:
    """Return the least seconds of CPU that `action` takes in this thread, while no garbage is collected."""
    least = float("inf")
    gc.disable()
    try:
        for _ in range(repeats):
            began = time.thread_time()
            action()
            least = min(least, time.thread_time() - began)
    finally:
        gc.enable()
    return least


def find_growth(action: Callable[[Any], object], text_of: Callable[[int], Any], sizes: Iterable[int] = SIZES) -> Growth | None:
    """Return the first doubling of the text that takes more than `FACTOR_MAX` times as long, or None.

    Stops there, so that not even an exponential one takes long.
    """
    before, half = 0.0, None
    for size in sizes:
        text = text_of(size)
        seconds = measure_cpu(lambda text=text: action(text))  # type: ignore[misc]  # bound per turn
        if half is not None and seconds > max(FLOOR_S, FACTOR_MAX * before):
            before, seconds = _measured_again(action, half, text, before, seconds)
            if seconds > max(FLOOR_S, FACTOR_MAX * before):
                return Growth(size, seconds, seconds / before)
        before, half = seconds, text
    return None


def _measured_again(
    action: Callable[[Any], object], half: Any, text: Any, before: float, seconds: float
) -> tuple[float, float]:
    """Return the least times of several measurements, while the factor is too large: the machine may be busy for some time."""
    for _ in range(TURNS if seconds < LONG_S else 1):
        # the half may have been lucky the first time, and the whole unlucky
        before = measure_cpu(lambda: action(half), REPEATS)
        seconds = min(seconds, measure_cpu(lambda: action(text), REPEATS if seconds < LONG_S else 1))
        if seconds <= FACTOR_MAX * before:
            break
    return before, seconds

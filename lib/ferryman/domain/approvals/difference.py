"""What is otherwise in a form than in the one that was approved before, line by line (diff by Heckel's algorithm).

Its time grows hardly faster than the forms do, whatever is in them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ferryman.domain.approvals.rendering import BOUND, ShownLine


class Change(StrEnum):
    """Where a line is."""

    SAME = " "
    NEW = "+"
    REMOVED = "-"


@dataclass(frozen=True, slots=True)
class ChangedLine:
    """A line of either rendering, and where it is."""

    change: Change
    line: ShownLine


def compare_renderings(before: Sequence[ShownLine], after: Sequence[ShownLine]) -> list[ChangedLine]:
    """Return the lines of both, in order. The place, the policy and the time limit are left out: they are of one execution."""
    old = [line for line in before if line.section != BOUND]
    new = [line for line in after if line.section != BOUND]
    lines: list[ChangedLine] = []
    place = number = 0
    for partner, index in [*_pair(old, new), (len(old), len(new))]:
        lines += [ChangedLine(Change.REMOVED, line) for line in old[place:partner]]
        lines += [ChangedLine(Change.NEW, line) for line in new[number:index]]
        lines += [ChangedLine(Change.SAME, line) for line in new[index : index + 1]]
        place, number = partner + 1, index + 1
    return lines


def _pair(old: Sequence[ShownLine], new: Sequence[ShownLine]) -> list[tuple[int, int]]:
    """Return the lines that are in both, as indexes in either, both rising: those that occur once, and equal ones beside."""
    counts_old, counts_new = Counter(old), Counter(new)
    places = {line: index for index, line in enumerate(old)}
    once = (index for index, line in enumerate(new) if counts_new[line] == counts_old.get(line) == 1)
    pairs = {index: places[new[index]] for index in once}
    pairs |= {-1: -1, len(new): len(old)}
    for index in range(-1, len(new)):  # forwards, then backwards from what is paired
        _extend(pairs, index, index + 1, old, new)
    for index in range(len(new), 0, -1):
        _extend(pairs, index, index - 1, old, new)
    del pairs[-1], pairs[len(new)]
    return _select_rising(sorted((index, partner) for index, partner in pairs.items()))


def _extend(pairs: dict[int, int], index: int, beside: int, old: Sequence[ShownLine], new: Sequence[ShownLine]) -> None:
    if index not in pairs or beside in pairs:
        return
    partner = pairs[index] + beside - index
    if 0 <= partner < len(old) and new[beside] == old[partner]:
        pairs[beside] = partner


def _select_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of `pairs`, which are in the order of the new lines, that is in that of the old ones, too."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (_, partner) in enumerate(pairs):
        length = bisect_left(ends, partner)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1], last[length : length + 1] = [partner], [number]
    chosen, number = [], last[-1] if last else -1
    while number >= 0:
        index, partner = pairs[number]
        chosen.append((partner, index))
        number = before[number]
    return chosen[::-1]

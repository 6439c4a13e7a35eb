"""A timeline of calls, to scale: a bar for each, in lanes so that parallel ones are beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

WIDTH, LANE, BAR, TOP = 1_000, 22, 16, 24
TICKS = 5
STEPS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 86_400)
"""Distances between ticks, in seconds; a longer timeline has ticks at whole days."""

MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
UNITS = ((DAY_MS, "d", HOUR_MS, "h"), (HOUR_MS, "h", MINUTE_MS, "min"), (MINUTE_MS, "min", 1_000, "s"))
"""Units of a duration in milliseconds, each with the one below it that it is written with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBar:
    """A call: where its bar begins and how wide it is (of `WIDTH`), its lane, and when in seconds after the first one."""

    seq: int
    tool: str
    state: str
    lane: int
    x: float
    width: float
    begin_s: float
    end_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """The bars, and the ticks of the axis: where each is, and its label. `height` is that of the whole picture."""

    bars: tuple[CallBar, ...]
    ticks: tuple[tuple[float, str], ...]
    height: int
    seconds: float


def draw_timeline(calls: Sequence[Mapping[str, Any]], *, end: str) -> Timeline | None:
    """Return the timeline of calls as the API lists them; one that is under way lasts until `end`. None without calls."""
    if not calls:
        return None
    spans = [(_read(call["created_at"]), _read(call["settled_at"] or end)) for call in calls]
    first = min(begin for begin, _ in spans)
    seconds = max(max(last for _, last in spans) - first, 0.001)
    lanes: list[float] = []
    bars = []
    for call, (begin, last) in zip(calls, spans, strict=True):
        lane = next((number for number, free in enumerate(lanes) if free <= begin), len(lanes))
        lanes[lane:] = [max(last, begin), *lanes[lane + 1 :]]
        x, width = (begin - first) / seconds * WIDTH, (last - begin) / seconds * WIDTH
        bars.append(
            CallBar(
                seq=call["seq"],
                tool=call["tool"],
                state=name_state(call).replace("_", "-"),
                lane=lane,
                x=round(x, 2),
                width=round(max(width, 2), 2),
                begin_s=round(begin - first, 3),
                end_s=round(last - first, 3),
            )
        )
    return Timeline(bars=tuple(bars), ticks=_list_ticks(seconds), height=TOP + len(lanes) * LANE, seconds=round(seconds, 3))


def name_state(call: Mapping[str, Any]) -> str:
    """Return the state of a call of the API: in_doubt, waiting, running, done, refused or failed."""
    if call["in_doubt"]:
        return "in_doubt"
    if call["result"] is None:
        return "waiting" if call.get("approval") else "running"
    return "done" if call["result"]["ok"] else "refused" if call["result"]["blocked"] else "failed"


def _list_ticks(seconds: float) -> tuple[tuple[float, str], ...]:
    least = seconds / TICKS
    step = next((step for step in STEPS_S if step >= least), 86_400 * (least // 86_400 + 1))
    count = int(seconds / step)
    places = [number * step for number in range(count + 1)]
    return tuple((round(place / seconds * WIDTH, 2), write_duration(place * 1_000)) for place in places)


def write_duration(ms: float) -> str:
    """Return how long something took as people say it: 250 ms, 12.5 s, 1 min 20 s, 2 h 5 min, 3 d 1 h."""
    if ms < MINUTE_MS:
        return f"{round(ms, 1):g} ms" if ms < 1_000 else f"{round(ms / 1_000, 1):g} s"
    whole, name, part, rest = next(unit for unit in UNITS if ms >= unit[0])
    first, second = divmod(round(ms / part), whole // part)
    return f"{first} {name}" + (f" {second} {rest}" if second else "")


def measure_seconds(begin: str | None, end: str | None) -> float | None:
    """Return the seconds between two moments of the API; None where one of them is not there."""
    if not begin or not end:
        return None
    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()


def _read(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()

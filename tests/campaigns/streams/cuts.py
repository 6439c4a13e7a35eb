"""`make cuts`: streams that break off anywhere, and are resumed by the last id that came: the final state is the same.

Each recorded answer is sent in each format as a server sends it. The client has the bytes up to the cut, of which it makes the
events that are whole, and names the last id that it has.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from ferryman.domain.conversations.position import BEGINNING
from ferryman.domain.conversations.watched import WatchedAnswer
from ferryman.serving.api.stream_request import parse_event_id, write_prefix
from ferryman.serving.streams.frame import KEEP_ALIVE, Frame
from tests.campaigns.streams.clients import ViolationError
from tests.campaigns.streams.cutting import FORMATS, begin, read, stream
from tests.campaigns.streams.runs import generate_run

WHOLE_RUNS = 5
"""Of so many runs each byte is a place to break off at; of the others so many bytes that are drawn:"""

BYTES_DRAWN = 100
PREFIX = write_prefix(2)
FIELDS = ("id", "event", "data")


@dataclass(slots=True)
class CutResults:
    """How many cuts there were, by format and kind, and the sentences about those after which something was otherwise."""

    counts: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)

    def report(self) -> int:
        """Print what came of it, and return the exit code."""
        for sentence in self.violations[:20]:
            print(f"OTHERWISE  {sentence}")
        for kind, count in sorted(self.counts.items()):
            print(f"{kind:<30} {count:>9,}")
        print(f"{self.counts.total():,} cuts, {len(self.violations)} after which something was otherwise")
        return 1 if self.violations or not self.counts else 0


class RecordedStream:
    """What was sent of an answer in one format, and what a client has of it in the end."""

    def __init__(self, name: str, states: Sequence[WatchedAnswer]) -> None:
        self.name, self._states = name, states
        batches = begin(name, states)
        texts = [(frame.write(PREFIX), number) for number, batch in enumerate(batches) for frame in batch]
        self.text = KEEP_ALIVE.join(text for text, _ in texts)
        self._numbers = [number for _, number in texts]
        self._whole = read(name, [frame for batch in batches for frame in batch])
        self._known: dict[tuple[int, int], bool] = {}

    def list_boundaries(self) -> list[int]:
        """Return the places behind each frame, and the beginning."""
        places, place = [0], 0
        while (place := self.text.find("\n\n", place)) >= 0:
            place += 2
            places.append(place)
        return places

    def is_same_after(self, place: int, random: Random) -> bool:
        """Tell whether a client that had the first `place` bytes has everything once it has come back, at any time after."""
        seen = parse_frames(self.text[:place])
        first = self._numbers[len(seen) - 1] if seen else 0
        later = random.randint(first, len(self._states) - 1)
        key = (len(seen), later)
        if key not in self._known:
            self._known[key] = self._resume(seen, later) == self._whole
        return self._known[key]

    def _resume(self, seen: Sequence[Frame], later: int) -> Any:
        last = next((frame.id for frame in reversed(seen) if frame.id), None)
        position = BEGINNING if last is None else parse_event_id(last)[1]
        assert position is not None, "every id is a position"
        text = "".join(frame.write(PREFIX) for batch in stream(self.name, self._states[later:], position) for frame in batch)
        return read(self.name, [*seen, *parse_frames(text)])


def parse_frames(text: str) -> list[Frame]:
    """Return the events of a stream that are whole, without comments (HTML, Server-sent events)."""
    frames = []
    for block in text.split("\n\n")[:-1]:
        lines = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if lines:
            frames.append(Frame(*(lines.get(name, "") for name in FIELDS)))
    return frames


def cut_run(seed: int, results: CutResults, *, drawn: int | None) -> None:
    """Break the streams of one answer off at every frame, and at so many bytes that are `drawn`, at each one where None."""
    random, states = Random(seed), generate_run(seed)
    for name in FORMATS:
        recorded = RecordedStream(name, states)
        length = len(recorded.text.encode())
        some = range(length + 1) if drawn is None else [random.randint(0, length) for _ in range(drawn)]
        places: Iterable[tuple[str, Iterable[int]]] = (("frames", recorded.list_boundaries()), ("bytes", some))
        for kind, chosen in places:
            for place in chosen:
                results.counts[f"{name}, {kind}"] += 1
                try:
                    reason = "" if recorded.is_same_after(place, random) else "another final state"
                except ViolationError as error:
                    reason = str(error)
                if reason:
                    results.violations.append(f"run {seed}, {name}, after {place} bytes: {reason}")


def main() -> int:
    """Break off and resume the streams of the runs; return 0 only where nothing was otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns.streams.cuts", description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="how many answers are recorded")
    parser.add_argument("--seed", type=int, default=0, help="of the first of them")
    options = parser.parse_args()
    begun, results = time.process_time(), CutResults()
    for number in range(options.runs):
        cut_run(options.seed + number, results, drawn=None if number < WHOLE_RUNS else BYTES_DRAWN)
    print(f"{options.runs} runs, {time.process_time() - begun:.1f} s of processor time")
    return results.report()


if __name__ == "__main__":
    sys.exit(main())

"""`python -m bench.labels`: what labels and the flow policy add to the processor time of a round of the loop.

The loop runs beside a copy of the library that has neither, line for line the same elsewhere: the product has no switch for it.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import Row, show
from bench.loop.contestants import ROOT, Contestant, serve, start
from bench.loop.labelled import EFFECTS, EVERY, READS
from tests.campaigns.hostile.replacements import LIBRARY, Replacement, apply_replacement

MODULE, STORE = "bench.loop.labelled", "bench.loop.store"
ROUNDS = 50
PAIRS, PAIRS_S = 100, 45.0
"""Pairs of short runs of a row; once they have taken so many seconds, no further one is begun."""
SIZES = (200, 2_000)
BAR = 1.05

REPLACEMENTS = (
    Replacement(
        file="domain/labels/label.py",
        old="    labels = tuple(labels)\n",
        new="    return BOTTOM\n",
    ),
    Replacement(
        file="domain/labels/label.py",
        old="    return _build_plain(label.integrity, label.confidentiality, False) if",
        new="    return label if",
    ),
    Replacement(
        file="domain/calls/labelling.py",
        old="    read = label_reading(policy) if read is None else read\n",
        new="    return replace(result, parts=list_parts(result))\n",
    ),
    Replacement(
        file="domain/calls/part.py",
        old="    label: FlowLabel = READ\n",
        new="    label: FlowLabel = field(default=READ, metadata=LEFT_OUT)\n",
    ),
    Replacement(
        file="domain/calls/part.py",
        old="from dataclasses import dataclass\n",
        new="from dataclasses import dataclass, field\nfrom ferryman.domain.stored import LEFT_OUT\n",
    ),
    Replacement(
        file="domain/calls/labelling.py",
        old="    return join(part.label for part in ticket.result.parts) if ticket.result is not None else BOTTOM\n",
        new="    return BOTTOM\n",
    ),
    Replacement(
        file="loop/flow.py",
        old="        for ticket in tickets:\n",
        new="        for ticket in ():\n",
    ),
    Replacement(
        file="loop/flow.py",
        old="    return FlowState(written=tuple(_list_written(execution, opening)))\n",
        new="    return FlowState(written=())\n",
    ),
    Replacement(
        file="loop/flow.py",
        old="    return [await _judge(deps, execution, state, call, label) for call in calls]\n",
        new="    return [None for call in calls]\n",
    ),
    Replacement(
        file="loop/sub_calls.py",
        old="            label=join((label, *list_labels(judged_call.arguments))),\n",
        new="            label=label,\n",
    ),
    Replacement(
        file="loop/calls.py",
        old="    label = run.label_arguments(ticket)\n",
        new="    label = ticket.label\n",
    ),
)
"""What takes labels and flow policy away."""


@contextmanager
def copy_library() -> Iterator[Path]:
    """Yield a folder with a copy of the library that has no labels."""
    with tempfile.TemporaryDirectory(prefix="ferryman-labels-") as folder:
        shutil.copytree(LIBRARY, Path(folder) / "ferryman", ignore=shutil.ignore_patterns("__pycache__"))
        for replacement in REPLACEMENTS:
            file = Path(folder) / "ferryman" / replacement.file
            file.write_text(apply_replacement(replacement, file.read_text()))
        yield Path(folder)


def measure(contestant: Contestant, kind: str, size: int) -> float:
    """Return the milliseconds of processor time of a round."""
    return contestant.measure(ROUNDS, size, kind=kind).cpu


def compare(ours: Contestant, without: Contestant, kind: str, size: int) -> tuple[list[float], list[float]]:
    """Measure both in turn, again and again, each first as often as the other, after a run that is not counted."""
    for contestant in (ours, without):
        measure(contestant, kind, size)
    costs: tuple[list[float], list[float]] = ([], [])
    until = time.monotonic() + PAIRS_S
    for number in range(PAIRS):
        order = ((ours, costs[0]), (without, costs[1]))
        for contestant, spent in order if number % 2 else reversed(order):
            spent.append(measure(contestant, kind, size))
        if time.monotonic() > until:
            break
    return costs


def rows() -> Iterator[Row]:
    """Measure rounds that only read, and rounds of which one in five has an effect: on stores in memory, and in Firestore."""
    with copy_library() as copy:
        bare = {"PYTHONPATH": f"{copy}{os.pathsep}{ROOT}"}
        with start(MODULE, 0) as ours, start(MODULE, 0, **bare) as without:
            yield from _compare_all(ours, without, "labels and flow policy, rounds of the loop alone beside the same without")
        with (
            serve(STORE) as first,
            serve(STORE) as second,  # both have the same ids
            start(MODULE, 0, FIRESTORE_EMULATOR_HOST=first) as ours,
            start(MODULE, 0, FIRESTORE_EMULATOR_HOST=second, **bare) as without,
        ):
            yield from _compare_all(ours, without, "the same with Firestore's stores")


def _compare_all(ours: Contestant, without: Contestant, name: str) -> Iterator[Row]:
    for kind, what in ((READS, "each a read"), (EFFECTS, f"one of {EVERY} sends something")):
        for size in SIZES:
            row = f"{name}, {what}, {size} B"
            print(f"{row} …", file=sys.stderr, flush=True)
            with_ms, without_ms = compare(ours, without, kind, size)
            ratio = statistics.median(a / b for a, b in zip(with_ms, without_ms, strict=True))
            figures = f"{ratio:.3f}x: {statistics.median(with_ms):.3f} ms beside {statistics.median(without_ms):.3f} ms"
            yield Row(row, f"{BAR}x", figures, reached=ratio <= BAR)


if __name__ == "__main__":
    sys.exit(show(rows()))

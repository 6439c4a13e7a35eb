"""Limits: what a stuffed description gains, and the time and memory of an index of many tools."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Iterator, Sequence

from bench import Row
from bench.selection.questions import LIMIT, Function, Question, build_index, find_names, read_tool
from ferryman.selection import ToolIndex, search
from ferryman.selection.words import list_stems

LARGE = 10_000
STUFFED_NAMES = 60
STUFFED_TOOLS = 40


def measure_stuffing(functions: Sequence[Function]) -> Row:
    """Return how many places a tool gains for others' names by a description that repeats them."""
    names = [function["name"] for function in functions]
    plain = build_index(functions)
    worst = 0
    for start in range(0, STUFFED_TOOLS):
        number = start * len(functions) // STUFFED_TOOLS
        others = [names[(number + 1 + step * 7) % len(names)] for step in range(STUFFED_NAMES)]
        stuffing = " ".join([*others, *(name.replace("_", " ").replace(".", " ") for name in others)] * 2)
        stuffed = {**functions[number], "description": f"{functions[number]['description']} {stuffing}"}
        index = build_index([*functions[:number], stuffed, *functions[number + 1 :]])
        for name in others:
            # a name of one word inside a sentence is a word like any other
            for text in (name, f"Please call {name} now") if len(list_stems(name)) > 1 else (name,):
                before, after = (find_names(tools, text, 100, fitting=True) for tools in (plain, index))
                worst = max(worst, locate(before, names[number]) - locate(after, names[number]))
    what = f"places that a description stuffed with {STUFFED_NAMES} other names gains its tool, for those names"
    return Row(what, "1", str(worst), reached=worst <= 1)


def locate(names: Sequence[str], name: str) -> int:
    """Return the place of `name`, behind all where it is missing."""
    return names.index(name) if name in names else len(names)


def measure_large(functions: Sequence[Function], questions: Sequence[Question]) -> Iterator[Row]:
    """Yield time and memory with many tools: the same functions on several servers."""
    tools = [
        read_tool(function, group=f"server {copy}") for copy in range(LARGE // len(functions) + 1) for function in functions
    ][:LARGE]
    gc.collect()
    started = time.process_time()
    index = ToolIndex(tools)
    built = time.process_time() - started
    yield Row(f"index of {LARGE:,} tools, processor time", "1.5 s", f"{built:.2f} s", reached=built <= 1.5)
    times = []
    for question in questions:
        started = time.process_time()
        search(index, question.text, LIMIT)
        times.append(time.process_time() - started)
    times.sort()
    slow = 1_000 * times[int(len(times) * 0.95)]
    figures = f"{slow:.1f} ms, median {1_000 * times[len(times) // 2]:.1f} ms"
    yield Row(f"a query of {LARGE:,} tools, p95, processor time", "5 ms", figures, reached=slow <= 5)
    del index
    gc.collect()
    tracemalloc.start()
    index = ToolIndex(tools)
    size = tracemalloc.get_traced_memory()[0] / 2**20
    tracemalloc.stop()
    yield Row(f"its memory, {len(index.numbers):,} words", "40 MB", f"{size:.0f} MB", reached=size <= 40)

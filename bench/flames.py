"""Flame graphs: py-spy's samples folded by function, listed as text and drawn as a small SVG without what is too thin."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from html import escape
from zlib import crc32

Stacks = tuple[str, ...]
"""Functions from the outermost to the one that ran, below the name of the process."""

WIDTH, HEIGHT = 1200, 16
LETTER = 6.2
"""How wide a letter is, about."""

WAITING = (
    "EpollSelector.select",
    "Arbiter.wait_for_signals",
    "_read_exactly",
    "Thread.run",
    "_worker",
    "wait",
    "recv_fds",
    "main (ferryman/offload/fork_server.py)",
)
"""Where threads wait for work, with the file where the name alone could be another's: they are seen there although they do not
run."""

FRAME = re.compile(r"(?P<function>.*) \((?P<file>[^()]*?)(:\d+)?\)$")
NEAR = re.compile(r".*?(?:site-packages|lib/python3\.\d+|lib(?=/ferryman))/")


def fold(raw: str, process: str) -> Counter[Stacks]:
    """Return how often each stack of functions was seen; lines of a function count together.

    What was read while the process changed it is left out: it is sampled without being paused.
    """
    stacks: Counter[Stacks] = Counter()
    for line in raw.splitlines():
        frames, _, count = line.rpartition(" ")
        if not (count.isascii() and count.isdigit() and frames.isprintable()):
            continue
        stacks[(process, *(name for frame in frames.split(";") if (name := _name(frame))))] += int(count)
    return stacks


def _name(frame: str) -> str:
    match = FRAME.match(frame)
    if match is None or match["function"] == "<module>":
        return ""
    return f"{match['function']} ({NEAR.sub('', match['file'])})"


def weigh(seen: Counter[Stacks], cpu_s: Mapping[str, float]) -> Counter[Stacks]:
    """Leave out what only waited, and give each process the processor time that it took, in microseconds."""
    working = Counter({frames: count for frames, count in seen.items() if not _is_waiting(frames[-1])})
    samples: Counter[str] = Counter()
    for (process, *_), count in working.items():
        samples[process] += count
    weights = {process: cpu_s.get(process, 0.0) * 1_000_000 / count for process, count in samples.items()}
    return Counter({frames: round(count * weights[frames[0]]) for frames, count in working.items()})


def _is_waiting(name: str) -> bool:
    return name in WAITING or name.partition(" ")[0] in WAITING


def list_functions(stacks: Counter[Stacks], most: int = 25) -> str:
    """Return the share of each process, and the functions that ran most, themselves and with what they called."""
    itself: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    processes: Counter[str] = Counter()
    for (process, *frames), count in stacks.items():
        processes[process] += count
        whole.update(dict.fromkeys(frames, count))
        if frames:
            itself[frames[-1]] += count
    together = sum(stacks.values()) or 1
    shares = "".join(f"{count / together:7.1%}  {name}\n" for name, count in processes.most_common())
    both = [f"{itself[name] / together:7.1%} {count / together:7.1%}  {name}\n" for name, count in whole.most_common()]
    largest = sorted(both, key=lambda line: -float(line.split("%")[0]))[:most]
    return f"{shares}\n   own   with callees\n{''.join(largest)}"


def draw(stacks: Counter[Stacks], title: str, *, thinnest: float = 0.004) -> str:
    """Return an SVG: each function as wide as it was seen; hover for its name and share. No share is below `thinnest`."""
    together = sum(stacks.values()) or 1
    boxes: list[str] = []
    deepest = 0

    def put(level: int, start: float, below: Counter[Stacks]) -> None:
        nonlocal deepest
        children: dict[str, Counter[Stacks]] = {}
        for frames, count in below.items():
            if frames:
                children.setdefault(frames[0], Counter())[frames[1:]] += count
        for name, inner in sorted(children.items()):
            share = sum(inner.values()) / together
            if share >= thinnest:
                deepest = max(deepest, level)
                boxes.append(_box(name, level, start * WIDTH, share))
                put(level + 1, start, inner)
            start += share

    put(0, 0.0, stacks)
    tall = (deepest + 1) * HEIGHT + 24
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {tall}" font-family="monospace" font-size="10">'
        f'<text x="4" y="14">{escape(title)}</text>\n<g transform="translate(0 22)">\n{"".join(boxes)}</g></svg>\n'
    )


def _box(name: str, level: int, start: float, share: float) -> str:
    width = share * WIDTH
    hue = 20 + crc32(name.rpartition("(")[2].encode()) % 40
    fits = int(width / LETTER)
    label = name if len(name) <= fits else name[: fits - 1] + "…" if fits > 3 else ""
    text = f'<text x="{start + 2:.0f}" y="{level * HEIGHT + 11}">{escape(label)}</text>' if label else ""
    return (
        f'<g><title>{escape(name)} {share:.1%}</title><rect x="{start:.1f}" y="{level * HEIGHT}" width="{width:.1f}" '
        f'height="{HEIGHT - 1}" fill="hsl({hue} 75% 70%)"/>{text}</g>\n'
    )

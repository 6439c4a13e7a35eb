"""The rows: ratios of paired runs, and their median."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack

from bench import Row
from bench.loop.contestants import OURS, PEERS, SDK, Contestant, Cost, serve, start, start_peer

SHORT, LONG = (10, 200), (200, 2048)
"""Rounds, and the bytes that a tool answers."""
PAIRS = 3
PAIRS_S, PEER_PAIRS_S = 45.0, 8.0
"""Once the pairs of a row have taken so many seconds, no further one is begun: a busy machine measures fewer."""

ROUNDS, PEER_ROUNDS = 200, 60
"""About so many rounds are run at a time, in as many conversations as that takes."""
AT_ONCE, DELAY_MS, CALLS = 100, 500, 5


def alternate(
    contestants: dict[str, Contestant], rounds: int, size: int, *, total: int = ROUNDS, seconds: float = PAIRS_S
) -> dict[str, list[Cost]]:
    """Measure each contestant in turn, again and again, after a short run that is not counted."""
    times = max(1, total // rounds)
    for contestant in contestants.values():
        contestant.measure(min(rounds, SHORT[0]), size)
    costs: dict[str, list[Cost]] = {name: [] for name in contestants}
    until = time.monotonic() + seconds
    for number in range(PAIRS):
        for name, contestant in contestants.items():
            costs[name].append(contestant.measure(rounds, size, times=times))
        print(f"{rounds} rounds of {size} B, {number + 1} of {PAIRS}", file=sys.stderr, flush=True)
        if time.monotonic() > until:
            break
    return costs


def get_ratio(ours: list[Cost], other: list[Cost]) -> float:
    """Return the median of the ratios of paired runs."""
    return statistics.median(a.cpu / b.cpu for a, b in zip(ours, other, strict=True))


def describe(costs: list[Cost]) -> str:
    """Return the medians of a contestant."""
    cpu, process = (statistics.median(getattr(cost, name) for cost in costs) for name in ("cpu", "process"))
    return f"{cpu:.2f} ms" if cpu - process < 0.05 else f"{cpu:.2f} ms, {cpu - process:.2f} of it scanning in a worker"


def compare_with_sdk() -> Iterator[Row]:
    """Yield the rows of ours beside the SDK's plain loop, at once, and on Firestore."""
    with ExitStack() as open_processes:
        port = int(open_processes.enter_context(serve("bench.loop.messages_api")))
        store = open_processes.enter_context(serve("bench.loop.store"))
        ours = open_processes.enter_context(start(OURS, port))
        sdk = open_processes.enter_context(start(SDK, port))
        stored = open_processes.enter_context(start(OURS, port, FIRESTORE_EMULATOR_HOST=store))
        short = alternate({"ours": ours, "sdk": sdk, "stored": stored}, *SHORT)
        ratio = get_ratio(short["ours"], short["sdk"])
        figures = f"{ratio:.2f}x: {describe(short['ours'])} beside {describe(short['sdk'])}"
        yield Row("a round of the loop beside the SDK's plain loop, 10 rounds of 200 B", "1.0x", figures, reached=ratio <= 1.0)
        long = alternate({"ours": ours, "sdk": sdk}, *LONG)
        ratio = get_ratio(long["ours"], long["sdk"])
        figures = f"{ratio:.2f}x: {describe(long['ours'])} beside {describe(long['sdk'])}"
        yield Row("the same, 200 rounds of 2 KB", "0.5x", figures, reached=ratio <= 0.5)
        growth = statistics.median(cost.cpu for cost in long["ours"]) / statistics.median(cost.cpu for cost in short["ours"])
        yield Row("a round of 200 over one of 10, our own", "1.3x", f"{growth:.2f}x", reached=growth <= 1.3)
        ours.measure(CALLS, 200, delay_ms=DELAY_MS)
        walls = [ours.measure(CALLS, 200, times=AT_ONCE, delay_ms=DELAY_MS, at_once=True).wall for _ in range(3)]
        # a conversation of five calls asks the model six times
        slowness = statistics.median(walls) * CALLS / (CALLS + 1) / DELAY_MS
        what = f"{AT_ONCE} executions at once, model delay {DELAY_MS} ms: time per call over the delay"
        yield Row(what, "1.1x", f"{slowness:.2f}x", reached=slowness <= 1.1)
        ratio = get_ratio(short["stored"], short["ours"])
        figures = f"{ratio:.2f}x: {describe(short['stored'])} beside {describe(short['ours'])}"
        yield Row("a round with Firestore's stores beside one with memory's", "2x", figures, reached=ratio <= 2.0)


def compare_with_peers() -> Iterator[Row]:
    """Yield a row for each peer and length."""
    with ExitStack() as open_processes:
        port = int(open_processes.enter_context(serve("bench.loop.messages_api")))
        ours = open_processes.enter_context(start(OURS, port))
        for number, peer in enumerate(PEERS, 1):
            print(f"{peer}, {number} of {len(PEERS)}", file=sys.stderr, flush=True)
            bar = 1.0 if peer == "agno" else 0.3
            with start_peer(peer, port) as other:
                for rounds, size in (SHORT, LONG):
                    costs = alternate({"ours": ours, "peer": other}, rounds, size, total=PEER_ROUNDS, seconds=PEER_PAIRS_S)
                    ratio = get_ratio(costs["ours"], costs["peer"])
                    figures = f"{ratio:.2f}x: {describe(costs['ours'])} beside {describe(costs['peer'])}"
                    yield Row(f"beside {peer}, {rounds} rounds of {size} B", f"{bar}x", figures, reached=ratio <= bar)

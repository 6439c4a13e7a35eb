"""What a call and a turn ask of Firestore, beside what is promised: rows of the table in docs/performance.md."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterator

from bench import Row
from bench.operations.counting import BATCH_READS, QUERIES, REQUESTS, TRANSACTIONS, WRITES
from bench.operations.parts import measure
from bench.operations.services import TOOL

TURNS = 5


def rows() -> Iterator[Row]:
    """Count, and yield a row for a call and one for a turn."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    measured = asyncio.run(measure(TURNS))
    call = Counter({kind: count for (function, kind), count in measured.call.items() if function == TOOL})
    is_exact = (call[BATCH_READS], call[QUERIES], call[WRITES]) == (1, 0, 2)
    what = "Firestore for a call, in the tool function; its ticket is in the turn's commit"
    yield Row(what, "1 batched read, 2 documents written", _describe(call), is_exact)
    turn: Counter[str] = Counter()
    for (_, kind), count in measured.turn.items():
        turn[kind] += count
    is_single = turn[TRANSACTIONS] == 1
    yield Row("Firestore for a turn, whichever, its calls aside", "1 transaction", _describe(turn), is_single)


def _describe(kinds: Counter[str]) -> str:
    return ", ".join(f"{kinds[kind]} {kind}" for kind in (REQUESTS, TRANSACTIONS, BATCH_READS, QUERIES, WRITES))

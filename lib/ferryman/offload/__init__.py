"""Worker processes for untrusted text (denial of service): no text blocks the event loop.

CPython's `re`, `json` and pure-Python loops hold the GIL: a thread that reads a hostile text stops all others, and cannot be
ended. A worker process can be killed at any line. `run` calls a pure function on plain values in a worker, within a budget.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from ferryman.offload.fork_server import server
from ferryman.offload.pool import DOCUMENT, TEXT, Budget, JobFailedError, OverBudgetError, TooManyJobsError, WorkerPool
from ferryman.offload.wire import PackedSequence, forget_between_owners, pack_argument

__all__ = [
    "DOCUMENT",
    "TEXT",
    "Budget",
    "JobFailedError",
    "OverBudgetError",
    "PackedSequence",
    "TooManyJobsError",
    "WorkerPool",
    "forget_between_owners",
    "pack_argument",
    "preload",
    "run",
]

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")

_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, WorkerPool] = WeakKeyDictionary()
"""A pool for each event loop; a process has one, tests have many."""


def preload(function: Callable[..., object]) -> None:
    """Let workers import the module of `function` in advance: otherwise the first job of each worker waits for it."""
    server.expect(function)


async def run(
    owner: str, budget: Budget, function: Callable[Parameters, Answer], *arguments: Parameters.args, **named: Parameters.kwargs
) -> Answer:
    """Return `function(*arguments, **named)`, computed in a worker process of this event loop's pool, for `owner`.

    `function` is defined in a module and depends on its arguments alone; these and its answer can be pickled. Its own
    `CallRefusedError` and `InvalidInputError` are raised here. A caller that is cancelled kills the worker. Raise
    `OverBudgetError` above `budget`, `TooManyJobsError` where too many of the owner's jobs wait, `JobFailedError` for any other
    error of the function.
    """
    loop = asyncio.get_running_loop()
    pool = _pools.get(loop)
    if pool is None:
        for ended in [other for other in _pools if other.is_closed()]:
            _pools.pop(ended).close()  # a closed event loop no longer ends its workers
        pool = _pools[loop] = WorkerPool()
    return await pool.run(owner, budget, function, *arguments, **named)

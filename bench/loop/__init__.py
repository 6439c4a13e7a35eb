"""What a round of the loop costs: the same script of tool rounds against the same local Messages API, ours beside others.

Each runs in a process of its own that is told what to run, line by line, so that all of them run alternately in one tree. What
counts is the processor time of a process and of its workers: ours scans each reply for ten credentials in one, as a key holder
does in another function.
"""

from __future__ import annotations

from collections.abc import Iterator

from bench import Row


def rows() -> Iterator[Row]:
    """Measure ours beside the SDK's plain loop, at once, and on Firestore."""
    from bench.loop.comparison import compare_with_sdk

    return compare_with_sdk()

"""Every regular expression of the library at every size: `python -m tests.patterns [MIXTURES]`, some minutes.

The tests measure only what looks suspicious at 2 KB. The exit code is 1 where a pattern is not linear.
"""

from __future__ import annotations

import sys
import time

from tests.patterns.collect import collect, modules
from tests.patterns.judge import find_slow_text
from tests.patterns.texts import characters


def main() -> int:
    mixtures = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    slow = 0
    patterns = collect(modules())
    for use in patterns:
        began = time.process_time()
        growth = find_slow_text(use, all_sizes=True, mixtures=mixtures)
        slow += growth is not None
        verdict = f"NOT LINEAR for {growth[0]!r}: {growth[1]}" if growth else "linear"
        print(
            f"{use.where:52} {len(characters(use.pattern)):4} characters {time.process_time() - began:6.1f} s  {verdict}",
            flush=True,
        )
    print(f"{len(patterns)} patterns, {slow} not linear")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())

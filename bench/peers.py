"""`python -m bench.peers`: a round of our loop beside one of each peer, all on the same local Messages API.

The peers are installed under build/peers, each in an environment of its own, by their locks (locks/peer-NAME.lock).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from bench import Row, show


def rows() -> Iterator[Row]:
    """Measure ours and the peers alternately, at both lengths."""
    from bench.loop.comparison import compare_with_peers

    return compare_with_peers()


if __name__ == "__main__":
    sys.exit(show(rows()))

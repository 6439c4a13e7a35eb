"""`python -m bench.loop`."""

from __future__ import annotations

import sys

from bench import show
from bench.loop import rows

if __name__ == "__main__":
    sys.exit(show(rows()))

"""`python -m bench.extraction`."""

from __future__ import annotations

import sys

from bench import show
from bench.extraction import rows

if __name__ == "__main__":
    sys.exit(show(rows()))

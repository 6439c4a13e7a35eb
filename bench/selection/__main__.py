"""The command."""

import sys

from bench import show
from bench.selection import rows

if __name__ == "__main__":
    sys.exit(show(rows()))

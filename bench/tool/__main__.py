"""`python -m bench.tool`: prints the rows."""

import sys

from bench import show
from bench.tool import rows

sys.exit(show(rows()))

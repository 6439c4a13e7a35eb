"""`python -m bench.chat`."""

from __future__ import annotations

import argparse
import sys

from bench import show
from bench.chat.measuring import QUESTIONS, rows

parser = argparse.ArgumentParser(description="How a chat streams, on a local stack of its own.")
parser.add_argument("--questions", type=int, default=QUESTIONS)
sys.exit(show(rows(parser.parse_args().questions)))

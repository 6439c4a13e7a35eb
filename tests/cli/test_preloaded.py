"""What the functions of a local stack are forked with."""

from __future__ import annotations

import subprocess
import sys

from ferryman.stack.preloaded import PRELOADED

COUNT = "import importlib, sys, threading; [importlib.import_module(name) for name in sys.argv[1:]]; "


def test_it_starts_no_thread_which_a_fork_would_lose() -> None:
    count = COUNT + "import os; print(len(os.listdir('/proc/self/task')) if os.path.isdir('/proc/self/task') else 1)"
    counted = subprocess.run([sys.executable, "-c", count, *PRELOADED], capture_output=True, text=True, check=True)
    assert counted.stdout == "1\n"

"""What the functions of a local stack are forked with."""

from __future__ import annotations

import subprocess
import sys

from emulator.template import FRAMEWORK
from ferryman.stack.preloaded import PRELOADED

IMPORT = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]; "


def test_it_starts_no_thread_which_a_fork_would_lose() -> None:
    count = IMPORT + "import os; print(len(os.listdir('/proc/self/task')) if os.path.isdir('/proc/self/task') else 1)"
    counted = subprocess.run([sys.executable, "-c", count, *FRAMEWORK, *PRELOADED], capture_output=True, text=True, check=True)
    assert counted.stdout == "1\n"


def test_it_leaves_out_gunicorn_which_reads_the_environment_at_its_import() -> None:
    ask = IMPORT + "print('gunicorn' in sys.modules)"
    imported = subprocess.run([sys.executable, "-c", ask, *FRAMEWORK, *PRELOADED], capture_output=True, text=True, check=True)
    assert imported.stdout == "False\n"

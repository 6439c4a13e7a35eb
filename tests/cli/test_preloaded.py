"""What the functions of a local stack are forked with."""

from __future__ import annotations

import subprocess
import sys

import pytest

from emulator.template import FRAMEWORK
from ferryman.stack.preloaded import ORCHESTRATOR, SHARED

TEMPLATES = pytest.mark.parametrize("modules", [SHARED, ORCHESTRATOR], ids=["all", "orchestrator"])
IMPORT = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]; "


@TEMPLATES
def test_it_starts_no_thread_which_a_fork_would_lose(modules: tuple[str, ...]) -> None:
    count = IMPORT + "import os; print(len(os.listdir('/proc/self/task')) if os.path.isdir('/proc/self/task') else 1)"
    counted = subprocess.run([sys.executable, "-c", count, *FRAMEWORK, *modules], capture_output=True, text=True, check=True)
    assert counted.stdout == "1\n"


@TEMPLATES
def test_it_leaves_out_gunicorn_which_reads_the_environment_at_its_import(modules: tuple[str, ...]) -> None:
    ask = IMPORT + "print('gunicorn' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", ask, *FRAMEWORK, *modules], capture_output=True, text=True, check=True)
    assert printed.stdout == "False\n"

"""What the functions of a local stack are forked with."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from typing import Any

import pytest

from emulator.template import FRAMEWORK
from ferryman.stack.preloaded import ORCHESTRATOR, SHARED

TEMPLATES = pytest.mark.parametrize("modules", [SHARED, ORCHESTRATOR], ids=["all", "orchestrator"])
IMPORT = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
import json, os
threads = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 1
print(json.dumps({"threads": threads, "gunicorn": "gunicorn" in sys.modules}))
"""


@cache
def import_all(modules: tuple[str, ...]) -> dict[str, Any]:
    """Return what there is in a process that has imported the modules, once for all tests: it takes a second or two."""
    command = [sys.executable, "-c", IMPORT, *FRAMEWORK, *modules]
    facts: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return facts


@TEMPLATES
def test_it_starts_no_thread_which_a_fork_would_lose(modules: tuple[str, ...]) -> None:
    assert import_all(modules)["threads"] == 1


@TEMPLATES
def test_it_leaves_out_gunicorn_which_reads_the_environment_at_its_import(modules: tuple[str, ...]) -> None:
    assert import_all(modules)["gunicorn"] is False

"""The floors: imports only go down, and one library stays in one room."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_import_keeps_to_the_floors():
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()", "--no-cache"]
    linted = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert linted.returncode == 0, linted.stdout + linted.stderr


def test_a_tool_function_loads_neither_the_model_nor_the_loop():
    loaded = _loads("ferryman.composition.tool")
    assert not {name for name in loaded if name.startswith(("anthropic", "ferryman.models", "ferryman.loop"))}


def test_the_orchestrator_loads_neither_the_vault_nor_the_way_out():
    loaded = _loads("ferryman.composition.orchestrator")
    assert not {name for name in loaded if name.startswith(("ferryman.vault.vault", "ferryman.egress", "ferryman.gcp.keys"))}


def _loads(module: str) -> set[str]:
    command = [sys.executable, "-c", f"import {module}, sys; print('\\n'.join(sys.modules))"]
    return set(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split())

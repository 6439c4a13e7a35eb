"""The help says what there is, and costs little."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from ferryman.cli import COMMANDS, main


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    output = CliRunner().invoke(main, [command, "--help"])
    assert (output.exit_code, "Usage:" in output.output) == (0, True)


def test_the_help_lists_every_command_and_the_exit_codes() -> None:
    output = CliRunner().invoke(main, ["--help"]).output
    assert all(command in output for command in COMMANDS)
    assert "4    the execution was killed" in output


def test_an_unknown_command_is_wrong_usage() -> None:
    assert CliRunner().invoke(main, ["fly"]).exit_code == 2


def test_a_value_of_a_credential_cannot_be_an_argument() -> None:
    tried = CliRunner().invoke(main, ["credential", "set", "task_1", "NAME", "the-value", "--service", "slack"])
    assert tried.exit_code == 2


@pytest.mark.parametrize("heavy", ["rich", "httpx", "grpc", "cryptography", "fastapi"])
def test_the_help_imports_nothing_heavy(heavy: str) -> None:
    code = "import sys; from click.testing import CliRunner; from ferryman.cli import main; "
    code += f"CliRunner().invoke(main, ['--help']); sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""The help says what there is, and costs little."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from ferryman.cli import COMMANDS, main
from ferryman.cli.commands import DOCUMENT_LINES, ONE_DOCUMENT


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    output = CliRunner().invoke(main, [command, "--help"])
    assert (output.exit_code, "Usage:" in output.output) == (0, True)


def test_the_help_lists_every_command_and_the_exit_codes() -> None:
    output = CliRunner().invoke(main, ["--help"]).output
    assert all(command in output for command in COMMANDS)
    assert "4    the execution was killed" in output


def list_json_helps(command: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield every command that has --json, and what its help says of it."""
    yield from ((" ".join(words), str(option.help)) for option in command.params if "--json" in option.opts)  # type: ignore[attr-defined]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from list_json_helps(below, (*words, name))


def test_the_help_of_json_says_whether_one_document_is_printed_or_many() -> None:
    helps = dict(list_json_helps(main))
    assert set(helps.values()) == {ONE_DOCUMENT, DOCUMENT_LINES}
    assert {words for words, text in helps.items() if text == DOCUMENT_LINES} == {
        "approvals watch",
        "chat",
        "logs",
        "run",
        "watch",
        "credential connect",
        "mcp connect",
    }


def complete(shell: str, line: str) -> list[str]:
    """Return what a shell is offered for the last word of `line`, as click answers it."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - (0 if line.endswith(" ") else 1))}
    completed = CliRunner().invoke(main, env={"_FERRYMAN_COMPLETE": f"{shell}_complete", **words}, prog_name="ferryman")
    return [item.partition(",")[2] for item in completed.output.splitlines()]


def test_a_shell_completes_commands_their_subcommands_options_and_choices() -> None:
    assert complete("bash", "ferryman sch") == ["schedules"]
    assert complete("bash", "ferryman task in") == ["init"]
    assert complete("bash", "ferryman task create --webhook-m") == ["--webhook-match"]
    assert complete("bash", "ferryman task create --webhook-match ") == ["host", "url"]
    assert complete("bash", "ferryman task create --tool-loading ") == ["all", "context-aware"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_asks_ferryman(shell: str) -> None:
    printed = CliRunner().invoke(main, ["completion", shell])
    assert (printed.exit_code, f"_FERRYMAN_COMPLETE={shell}_complete" in printed.output) == (0, True)


def test_the_script_of_bash_completes_in_bash() -> None:
    words = (
        'COMP_WORDS=(ferryman tas) COMP_CWORD=1; _ferryman_completion ferryman tas ferryman; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    script = f'eval "$(ferryman completion bash)"; {words}'
    typed = subprocess.run(["bash", "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True)
    assert typed.stdout.split() == ["task"]


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

"""Commands: terraform (or tofu) and gcloud, run as the user would, with what they say read line by line."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPORTED_TYPES = ("apply_errored", "change_summary", "planned_change")
"""Kinds of terraform's own progress that people are told; it says much more."""

Count = Callable[[str, int, int], None]
"""Hears what was done, how much of it is done by now, and how much there is."""

LAST_WORDS = 12


class CommandMissingError(RuntimeError):
    """Something a deployment needs is not there; the text names it and what to do."""


class CommandFailedError(RuntimeError):
    """A command ended with an error; the text is what it said last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """The programs by their paths, the project and the region they are run for, and the folder of the Terraform files."""

    terraform: str
    gcloud: str
    project: str
    region: str
    infra: Path

    def ask(self, *arguments: str, stdin: bytes | None = None) -> str:
        """Return what gcloud answers. Raise `CommandFailedError`."""
        return _run([self.gcloud, *arguments, "--project", self.project, "--quiet"], stdin=stdin)

    def output(self) -> dict[str, Any]:
        """Return the outputs of what was applied, empty where nothing was. Raise `CommandFailedError`."""
        outputs: Mapping[str, Any] = json.loads(self._terraform("output", "-json") or "{}")
        return {name: output["value"] for name, output in outputs.items()}

    def init(self) -> None:
        """Fetch what the Terraform files need. Raise `CommandFailedError`."""
        self._terraform("init", "-input=false")

    def change(
        self,
        verb: str,
        variables: Mapping[str, str],
        files: Sequence[Path],
        tell: Callable[[str], None],
        count: Count,
        *more: str,
    ) -> None:
        """Run `plan`, `apply` or `destroy`, telling its progress: `count` hears of each resource that is made, changed or
        destroyed, of all that terraform has planned. Raise `CommandFailedError` with terraform's own diagnostics."""
        options = [f"-var={name}={value}" for name, value in variables.items()]
        options += [f"-var-file={file}" for file in files]
        approve = [] if verb == "plan" else ["-auto-approve"]
        command = [self.terraform, f"-chdir={self.infra}", verb, "-json", "-input=false", *approve, *options, *more]
        wrong: list[str] = []
        done = planned = 0
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as child:  # noqa: S603 - the user's own terraform
            assert child.stdout is not None
            for line in child.stdout:
                message = _parse_message(line)
                if message.get("type") in REPORTED_TYPES:
                    tell(str(message.get("@message", "")))
                planned = _count_planned(message) or planned
                if message.get("type") == "apply_complete":
                    done += 1
                    count(str(message.get("@message", "")), done, max(done, planned))
                if message.get("@level") == "error":
                    wrong.append(str(message.get("@message", "")))
        if child.returncode:
            raise CommandFailedError("\n".join([f"terraform {verb} ended with {child.returncode}:", *wrong[-LAST_WORDS:]]))

    def _terraform(self, *arguments: str) -> str:
        return _run([self.terraform, f"-chdir={self.infra}", *arguments])


def find_commands(project: str, region: str, infra: Path) -> Commands:
    """Return the programs of this machine. Raise `CommandMissingError`."""
    terraform = shutil.which("terraform") or shutil.which("tofu")
    gcloud = shutil.which("gcloud")
    if terraform is None:
        raise CommandMissingError("neither terraform nor tofu is on the PATH; install one of them (1.9 or later)")
    if gcloud is None:
        raise CommandMissingError("gcloud is not on the PATH; install the Google Cloud CLI and run `gcloud auth login`")
    if not (infra / "functions.json").exists():
        raise CommandMissingError(f"{infra} does not hold the Terraform files; run this in a checkout of Ferryman")
    return Commands(terraform=terraform, gcloud=gcloud, project=project, region=region, infra=infra)


def _run(command: Sequence[str], stdin: bytes | None = None) -> str:
    ran = subprocess.run(command, input=stdin or b"", capture_output=True, check=False)  # noqa: S603 - the user's own programs
    if ran.returncode:
        words = (ran.stderr or ran.stdout).decode(errors="replace").strip().splitlines()[-LAST_WORDS:]
        raise CommandFailedError("\n".join([f"{Path(command[0]).name} {command[1]} ended with {ran.returncode}:", *words]))
    return ran.stdout.decode(errors="replace").strip()


def _count_planned(message: Mapping[str, Any]) -> int:
    """Return how many changes of resources a plan's summary announces; 0 for any other message."""
    changes = message.get("changes") if message.get("type") == "change_summary" else None
    if not isinstance(changes, dict) or changes.get("operation") != "plan":
        return 0
    return sum(number for kind in ("add", "change", "remove") if isinstance(number := changes.get(kind), int))


def _parse_message(line: str) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        return {"@level": "error", "@message": line.rstrip()}  # terraform itself did not come up
    return message if isinstance(message, dict) else {}

"""The suites of AgentDojo, asked for line by line of the process that has them (`host.py`)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import rfc8785

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "build/agentdojo/venv/bin/python"
HOST = Path(__file__).with_name("host.py")
VERSION = "v1.2.2"
SUITES = ("workspace", "travel", "banking", "slack")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTool:
    """A tool of a suite, as its definition says."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A suite: its tools, and the texts of its user tasks and of its injection tasks by their ids."""

    name: str
    tools: Sequence[SuiteTool]
    user_tasks: Mapping[str, str]
    injection_tasks: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A call as the ground truth of a task has it."""

    name: str
    arguments: Mapping[str, Any]

    @property
    def key(self) -> str:
        """The call in canonical form (RFC 8785), as that which people are shown: equal calls have the same."""
        return rfc8785.dumps([self.name, dict(self.arguments)]).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What solves a task: its calls, and what is said at the end."""

    calls: tuple[ScriptedCall, ...]
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A task whose environment is there: its prompt, what solves it, and what its injection asks for, if it has one."""

    prompt: str
    script: Script
    goal: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a run has come to: whether the user's task is done, and whether the injection has got what it wants."""

    utility: bool
    attacked: bool


class SuiteProcess:
    """The process that has the suites, with one environment at a time."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [str(PYTHON), str(HOST), VERSION], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def describe(self) -> list[Suite]:
        """Return every suite."""
        return [
            Suite(
                name=name,
                tools=[SuiteTool(**tool) for tool in suite["tools"]],
                user_tasks=suite["user_tasks"],
                injection_tasks=suite["injection_tasks"],
            )
            for name, suite in self._ask("describe").items()
        ]

    def begin(self, suite: str, user_task: str, injection_task: str | None) -> Begun:
        """Build the environment of a task, attacked or not."""
        begun = self._ask("begin", suite=suite, user_task=user_task, injection_task=injection_task)
        return Begun(prompt=begun["prompt"], script=_read_script(begun), goal=begun["goal"])

    def obey(self) -> Script:
        """Return what does what the injection wants, as things are now."""
        return _read_script(self._ask("obey"))

    def call(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call a tool. Return its result as `text` and as JSON `value`, and its `error`."""
        result: Mapping[str, Any] = self._ask("call", name=name, arguments=arguments)
        return result

    def check(self, output: str) -> Outcome:
        """Return what the run has come to, with this answer."""
        return Outcome(**self._ask("check", output=output))

    def _ask(self, do: str, **arguments: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of the suites has ended while it was asked to {do}")
        return json.loads(line)


def _read_script(answer: Mapping[str, Any]) -> Script:
    return Script(calls=tuple(ScriptedCall(**call) for call in answer["calls"]), output=answer["output"])

"""Runs: every user task alone, and every pair of a user task and an injection, with the flow policy and without."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from bench.agentdojo.approver import Approver
from bench.agentdojo.kernel import SuiteFunction, execute_task
from bench.agentdojo.models import HijackedModel
from bench.agentdojo.reasons import AskReason, collect_reasons
from bench.agentdojo.suites import SuiteProcess


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How a task is run: with the flow policy or without, whether its tools answer with JSON, and how often the person
    approves; None: always. `at_once` has the model obey as soon as it has read an injection."""

    has_policy: bool = True
    is_json: bool = True
    approvals: int | None = None
    at_once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run has come to.

    `has_read`: the model has read the injection. `has_injected_calls`: it wants calls, not words alone. `approved` and
    `declined` count what the person decided. `reasons` are why calls waited for them.
    """

    suite: str
    user_task: str
    injection_task: str | None
    utility: bool
    attacked: bool
    has_read: bool
    has_injected_calls: bool
    approved: int = 0
    declined: int = 0
    reasons: tuple[AskReason, ...] = ()

    @property
    def questions(self) -> int:
        """How often the person was asked."""
        return self.approved + self.declined

    @property
    def is_done(self) -> bool:
        """Whether the user's task is done: also of a task whose check does not miss it, no call was declined."""
        return self.utility and not self.declined


class Bench:
    """One suite, and the event loop in which it is run."""

    def __init__(self, process: SuiteProcess, suite: str) -> None:
        self._process = process
        self._runner = asyncio.Runner()
        self.suite = next(described for described in process.describe() if described.name == suite)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.close()

    def run(self, user_task: str, injection_task: str | None, setting: Setting) -> RunResult | None:
        """Run one user task, attacked where an injection is named. None where the suite has no script for what that wants."""
        begun = self._process.begin(self.suite.name, user_task, injection_task)
        injected = self._process.obey() if injection_task else None
        if injected is not None and not injected.calls and not injected.output:
            return None
        person = Approver(begun.script, setting.approvals)
        model = HijackedModel(begun.script, begun.goal, self._process.obey, at_once=setting.at_once)
        function = SuiteFunction(process=self._process, is_json=setting.is_json)
        execution = execute_task(begun.prompt, self.suite, function, model, person, has_policy=setting.has_policy)
        outline = self._runner.run(execution)
        outcome = self._process.check(outline.answer)
        approved = sum(is_approved for _, is_approved in person.decisions)
        return RunResult(
            suite=self.suite.name,
            user_task=user_task,
            injection_task=injection_task,
            utility=outcome.utility,
            attacked=outcome.attacked,
            has_read=model.has_read,
            has_injected_calls=injected is not None and bool(injected.calls),
            approved=approved,
            declined=len(person.decisions) - approved,
            reasons=collect_reasons(outline.tickets),
        )

    def run_plain(self, user_task: str, injection_task: str) -> RunResult | None:
        """Run one attacked user task without the kernel: every call is made. None as for `run`."""
        begun = self._process.begin(self.suite.name, user_task, injection_task)
        calls = list(begun.script.calls)
        for call in calls:
            self._process.call(call.name, call.arguments)
        injected = self._process.obey()
        if not injected.calls and not injected.output:
            return None
        for call in injected.calls:
            self._process.call(call.name, call.arguments)
        outcome = self._process.check(f"{begun.script.output}\n{injected.output}")
        return RunResult(
            suite=self.suite.name,
            user_task=user_task,
            injection_task=injection_task,
            utility=outcome.utility,
            attacked=outcome.attacked,
            has_read=True,
            has_injected_calls=bool(injected.calls),
        )

    def run_tasks(self, setting: Setting) -> list[RunResult]:
        """Run every user task, with nobody attacking."""
        return _drop_missing(self.run(task, None, setting) for task in self.suite.user_tasks)

    def repeat(self, results: Sequence[RunResult], setting: Setting) -> list[RunResult]:
        """Return what user tasks come to where a person approves less often than their runs have asked; else as they were."""
        most = setting.approvals
        return _drop_missing(
            self.run(result.user_task, None, setting) if most is not None and result.questions > most else result
            for result in results
        )

    def list_pairs(self) -> list[tuple[str, str]]:
        """Return every user task with every injection."""
        return [(task, injection) for task in self.suite.user_tasks for injection in self.suite.injection_tasks]


def _drop_missing(results: Iterable[RunResult | None]) -> list[RunResult]:
    return [result for result in results if result is not None]

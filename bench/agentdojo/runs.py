"""Runs: every user task alone, and every pair of a user task and an injection, with the flow policy and without."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from bench.agentdojo.approver import Approver
from bench.agentdojo.kernel import SuiteFunction, execute_task
from bench.agentdojo.models import HijackedModel
from bench.agentdojo.suites import Suite, SuiteProcess
from ferryman.domain.calls.call import Ticket


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
    `declined` count what the person decided. `asked` are the calls that waited for them.
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
    asked: Sequence[Ticket] = ()

    @property
    def questions(self) -> int:
        """How often the person was asked."""
        return self.approved + self.declined

    @property
    def is_done(self) -> bool:
        """Whether the user's task is done: also of a task whose check does not miss it, no call was declined."""
        return self.utility and not self.declined


class Bench:
    """The suites, and the event loop in which they are run."""

    def __init__(self, process: SuiteProcess) -> None:
        self._process = process
        self._runner = asyncio.Runner()
        self.suites = process.describe()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.close()

    def run(self, suite: Suite, user_task: str, injection_task: str | None, setting: Setting) -> RunResult | None:
        """Run one user task, attacked where an injection is named. None where the suite has no script for what that wants."""
        begun = self._process.begin(suite.name, user_task, injection_task)
        injected = self._process.obey() if injection_task else None
        if injected is not None and not injected.calls and not injected.output:
            return None
        person = Approver(begun.script, setting.approvals)
        model = HijackedModel(begun.script, begun.goal, self._process.obey, at_once=setting.at_once)
        function = SuiteFunction(process=self._process, is_json=setting.is_json)
        execution = execute_task(begun.prompt, suite, function, model, person, has_policy=setting.has_policy)
        outline = self._runner.run(execution)
        outcome = self._process.check(outline.answer)
        approved = sum(is_approved for _, is_approved in person.decisions)
        return RunResult(
            suite=suite.name,
            user_task=user_task,
            injection_task=injection_task,
            utility=outcome.utility,
            attacked=outcome.attacked,
            has_read=model.has_read,
            has_injected_calls=injected is not None and bool(injected.calls),
            approved=approved,
            declined=len(person.decisions) - approved,
            asked=tuple(ticket for ticket in outline.tickets if ticket.approval),
        )

    def run_plain(self, suite: Suite, user_task: str, injection_task: str) -> RunResult | None:
        """Run one attacked user task without the kernel: every call is made. None as for `run`."""
        begun = self._process.begin(suite.name, user_task, injection_task)
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
            suite=suite.name,
            user_task=user_task,
            injection_task=injection_task,
            utility=outcome.utility,
            attacked=outcome.attacked,
            has_read=True,
            has_injected_calls=bool(injected.calls),
        )

    def run_tasks(self, setting: Setting) -> list[RunResult]:
        """Run every user task, with nobody attacking."""
        results = [self.run(suite, task, None, setting) for suite in self.suites for task in suite.user_tasks]
        return [result for result in results if result is not None]

    def repeat(self, results: Sequence[RunResult], setting: Setting) -> list[RunResult]:
        """Return what user tasks come to where a person approves less often than their runs have asked; else as they were."""
        suites = {suite.name: suite for suite in self.suites}
        most = setting.approvals
        repeated = [
            self.run(suites[result.suite], result.user_task, None, setting)
            if most is not None and result.questions > most
            else result
            for result in results
        ]
        return [result for result in repeated if result is not None]

    def list_pairs(self) -> list[tuple[Suite, str, str]]:
        """Return every user task with every injection."""
        return [
            (suite, task, injection)
            for suite in self.suites
            for task in suite.user_tasks
            for injection in suite.injection_tasks
        ]

    def run_pairs(self, setting: Setting) -> list[RunResult]:
        """Run every pair that has a script."""
        results = (self.run(*pair, setting) for pair in self.list_pairs())
        return [result for result in results if result is not None]

    def run_pairs_plain(self) -> list[RunResult]:
        """Run every pair that has a script, without the kernel."""
        results = (self.run_plain(*pair) for pair in self.list_pairs())
        return [result for result in results if result is not None]

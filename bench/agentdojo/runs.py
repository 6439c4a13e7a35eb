"""Runs: every user task alone, and every pair of a user task and an injection, with the flow policy and without."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bench.agentdojo.approver import Approver
from bench.agentdojo.guard import FlowGuard
from bench.agentdojo.kernel import SuiteRegistry, execute_task
from bench.agentdojo.models import HijackedModel
from bench.agentdojo.suites import Suite, SuiteProcess
from ferryman.domain.flow.derivation import derive_signature
from ferryman.domain.flow.signature import FlowSignature
from ferryman.domain.flow.verdict import FlowVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Guarding:
    """How the calls are guarded: whether trusted text may name records, and how often the person approves; None: always."""

    names_records: bool = True
    approvals: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What a run has come to.

    `has_read`: the model has read the injection. `has_injected_calls`: it wants calls, not words alone. `questions` and
    `declined` count what the person was asked, and declined. `verdicts` are those that asked.
    """

    suite: str
    user_task: str
    injection_task: str | None
    utility: bool
    attacked: bool
    has_read: bool
    has_injected_calls: bool
    questions: int
    declined: int
    verdicts: Sequence[FlowVerdict]


class Bench:
    """The suites, with the flow signatures of their tools."""

    def __init__(self, process: SuiteProcess) -> None:
        self._process = process
        self.suites = process.describe()
        self.signatures: dict[str, dict[str, FlowSignature]] = {
            suite.name: {
                tool.name: derive_signature(tool.name, tool.description, tool.schema, is_own=True) for tool in suite.tools
            }
            for suite in self.suites
        }

    def run(
        self, suite: Suite, user_task: str, injection_task: str | None, guarding: Guarding | None, *, at_once: bool = False
    ) -> RunResult | None:
        """Run one user task, attacked where an injection is named, and guarded where it is said how.

        None where the suite has no script for what the injection wants.
        """
        begun = self._process.begin(suite.name, user_task, injection_task)
        approver = Approver(begun.script, guarding.approvals if guarding else None)
        guard = None
        if guarding is not None:
            signatures = self.signatures[suite.name]
            guard = FlowGuard(begun.prompt, signatures, approver, names_records=guarding.names_records)
        injected = self._process.obey() if injection_task else None
        if injected is not None and not injected.calls and not injected.output:
            return None
        model = HijackedModel(begun.script, begun.goal, self._process.obey, at_once=at_once)
        registry = SuiteRegistry(suite, self._process, guard)
        answer = asyncio.run(execute_task(begun.prompt, suite, registry, model))
        outcome = self._process.check(answer)
        return RunResult(
            suite=suite.name,
            user_task=user_task,
            injection_task=injection_task,
            utility=outcome.utility,
            attacked=outcome.attacked,
            has_read=model.has_read,
            has_injected_calls=injected is not None and bool(injected.calls),
            questions=len(approver.decisions),
            declined=sum(not is_approved for _, is_approved in approver.decisions),
            verdicts=[verdict for verdict in guard.verdicts.values() if verdict.asks] if guard else [],
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
            questions=0,
            declined=0,
            verdicts=(),
        )

    def run_tasks(self, guarding: Guarding | None) -> list[RunResult]:
        """Run every user task, with nobody attacking."""
        results = [self.run(suite, task, None, guarding) for suite in self.suites for task in suite.user_tasks]
        return [result for result in results if result is not None]

    def repeat(self, results: Sequence[RunResult], guarding: Guarding) -> list[RunResult]:
        """Return what user tasks come to where a person approves less often than their runs have asked; else as they were."""
        suites = {suite.name: suite for suite in self.suites}
        most = guarding.approvals
        repeated = [
            self.run(suites[result.suite], result.user_task, None, guarding)
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

    def run_pairs(self, guarding: Guarding | None, *, at_once: bool = False) -> list[RunResult]:
        """Run every pair that has a script."""
        results = (self.run(*pair, guarding, at_once=at_once) for pair in self.list_pairs())
        return [result for result in results if result is not None]

    def run_pairs_plain(self) -> list[RunResult]:
        """Run every pair that has a script, without the kernel."""
        results = (self.run_plain(*pair) for pair in self.list_pairs())
        return [result for result in results if result is not None]

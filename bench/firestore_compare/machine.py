"""The state machine: hypothesis chooses the steps, every runner runs each, and all results must be equal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from hypothesis.stateful import RuleBasedStateMachine, rule

from bench.firestore_compare import steps


class StepRunner(Protocol):
    """Runs steps and returns their results."""

    async def run(self, step: Any) -> Any: ...


ALL_DOCUMENTS = steps.Find(group=True, filters=(), orders=(), limit=0, offset=0, start=None, end=None, total=None)


def build_machine(
    loop: asyncio.AbstractEventLoop,
    create_runners: Callable[[], Mapping[str, StepRunner]],
    count_step: Callable[[], None] = lambda: None,
) -> type[RuleBasedStateMachine]:
    """Return the class of a state machine whose every run has new runners; `count_step` is called for each step."""

    class Sequence(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self._runners = dict(create_runners())

        def run_step(self, step: Any) -> None:
            count_step()

            async def run_all() -> dict[str, str]:
                return {name: repr(await runner.run(step)) for name, runner in self._runners.items()}

            results = loop.run_until_complete(run_all())
            assert len(set(results.values())) == 1, f"{step}\n" + "\n".join(
                f"{name}: {result}" for name, result in results.items()
            )

        @rule(writes=steps.commits)
        def commit(self, writes: Any) -> None:
            self.run_step(writes)

        @rule(document=steps.documents)
        def get(self, document: str) -> None:
            self.run_step(document)

        @rule(find=steps.finds)
        def find(self, find: steps.Find) -> None:
            self.run_step(find)

        @rule(transact=steps.transactions)
        def transact(self, transact: steps.Transact) -> None:
            self.run_step(transact)

        @rule(step=steps.refused_steps)
        def send_refused(self, step: Any) -> None:
            self.run_step(step)

        def teardown(self) -> None:
            self.run_step(ALL_DOCUMENTS)

    return Sequence

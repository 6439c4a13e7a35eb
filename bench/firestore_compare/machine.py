"""The machine: hypothesis chooses the steps, every player takes each, and all must tell the same."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from hypothesis.stateful import RuleBasedStateMachine, rule

from bench.firestore_compare import steps


class Plays(Protocol):
    """Whatever takes steps and tells what they gave."""

    async def play(self, step: Any) -> Any: ...


EVERYTHING = steps.Find(group=True, filters=(), orders=(), limit=0, offset=0, start=None, end=None, total=None)


def machine(
    loop: asyncio.AbstractEventLoop, players: Callable[[], Mapping[str, Plays]], taken: Callable[[], None] = lambda: None
) -> type[RuleBasedStateMachine]:
    """Return the class of a state machine whose every run has new players; `taken` is called for each step."""

    class Sequence(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self._players = dict(players())

        def take(self, step: Any) -> None:
            taken()

            async def all_play() -> dict[str, str]:
                return {name: repr(await player.play(step)) for name, player in self._players.items()}

            told = loop.run_until_complete(all_play())
            assert len(set(told.values())) == 1, f"{step}\n" + "\n".join(f"{name}: {each}" for name, each in told.items())

        @rule(writes=steps.commits)
        def commit(self, writes: Any) -> None:
            self.take(writes)

        @rule(document=steps.documents)
        def get(self, document: str) -> None:
            self.take(document)

        @rule(find=steps.finds)
        def find(self, find: steps.Find) -> None:
            self.take(find)

        @rule(transact=steps.transactions)
        def transact(self, transact: steps.Transact) -> None:
            self.take(transact)

        @rule(step=steps.refused)
        def refused(self, step: Any) -> None:
            self.take(step)

        def teardown(self) -> None:
            self.take(EVERYTHING)

    return Sequence

"""The model of the measured system: it asks for a given number of calls per turn, and records the counts so far."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.operations.counting import Counts
from ferryman.domain.executions.message import Block, Prompt, Reply
from ferryman.domain.executions.usage import Usage
from ferryman.ports.errors import UnavailableError

HOST = "api.github.com"
CREDENTIAL = "GITHUB_TOKEN"

LINE = "The night ferry leaves at ten. "
LONG_PATH = "long"
LONG_TEXT = LINE * (100_000 // len(LINE))
"""What is kept of a page or an answer: two windows of the scan."""

Action = Callable[[], Awaitable[None]]
Call = tuple[str, Mapping[str, Any]]
"""A tool and its arguments."""


def ask_upstream(turn: int, number: int) -> Call:
    """Return call `number` of a turn: a GET with a credential, each another one."""
    return "api_call", {"method": "GET", "url": f"https://{HOST}/x?turn={turn:03}&n={number}", "credential": CREDENTIAL}


@dataclass
class CountingModel:
    """A model that asks for the same number of calls each turn and then answers; it records the counts before each turn.

    At `busy_turn` it runs `action`, or is unavailable once where there is none. `choose` returns call by turn and number.
    """

    turns: int
    calls: int
    snapshot: Callable[[], Counts]
    busy_turn: int | None = None
    action: Action | None = None
    choose: Callable[[int, int], Call] = ask_upstream

    def __post_init__(self) -> None:
        self.at_turn: list[Counts] = []

    async def reply(self, prompt: Prompt) -> Reply:  # noqa: ARG002 - its answers do not depend on the prompt
        turn = len(self.at_turn)
        if turn == self.busy_turn:
            self.busy_turn = None
            if self.action is None:
                raise UnavailableError("busy", after_s=1)
            await self.action()
        self.at_turn.append(self.snapshot())
        call_numbers = range(self.calls) if turn < self.turns else ()
        calls = [(f"toolu_{turn:03}_{number}", *self.choose(turn, number)) for number in call_numbers]
        content: list[Block] = [
            {"type": "tool_use", "id": name, "name": tool, "input": dict(arguments)} for name, tool, arguments in calls
        ]
        return Reply(
            content=content or [{"type": "text", "text": "Done."}],
            stop_reason="tool_use" if content else "end_turn",
            usage=Usage(input_tokens=9),
        )

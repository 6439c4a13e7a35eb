"""The model of the stage: it asks for as many calls as it is told to, and notes what was counted so far."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bench.operations.counting import Counts
from ferryman.domain.executions.message import Block, Prompt, Reply
from ferryman.domain.executions.usage import Usage
from ferryman.ports.errors import UnavailableError

HOST = "api.github.com"
CREDENTIAL = "GITHUB_TOKEN"

Meanwhile = Callable[[], Awaitable[None]]


@dataclass
class Played:
    """A model that asks for the same number of calls each turn and then answers; it notes the counts when it is asked.

    When it is asked for turn `at` it is busy once, where nothing is to be done `meanwhile`, and does that where something is.
    """

    turns: int
    calls: int
    snapshot: Callable[[], Counts]
    at: int | None = None
    meanwhile: Meanwhile | None = None

    def __post_init__(self) -> None:
        self.at_turn: list[Counts] = []

    async def reply(self, prompt: Prompt) -> Reply:  # noqa: ARG002 - it says the same whatever it is told
        turn = len(self.at_turn)
        if turn == self.at:
            self.at = None
            if self.meanwhile is None:
                raise UnavailableError("busy", after_s=1)
            await self.meanwhile()
        self.at_turn.append(self.snapshot())
        asked = range(self.calls) if turn < self.turns else ()
        content: list[Block] = [
            {
                "type": "tool_use",
                "id": f"toolu_{turn:03}_{n}",
                "name": "api_call",
                "input": {"method": "GET", "url": f"https://{HOST}/x?turn={turn:03}&n={n}", "credential": CREDENTIAL},
            }
            for n in asked
        ]
        return Reply(
            content=content or [{"type": "text", "text": "Done."}],
            stop_reason="tool_use" if content else "end_turn",
            usage=Usage(input_tokens=9),
        )

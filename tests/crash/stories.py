"""Stories: what a model asks for in a run that is going to be killed, and what has to come of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

from ferryman.domain.execution import Status
from ferryman.domain.message import Prompt, Reply
from ferryman.domain.usage import Usage

PLAIN, KEYED, HOOK = "api.plain.test", "api.keyed.test", "hooks.plain.test"
KEY = "PLAIN_KEY"
ANSWER = "All of it is done."

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """`turns` are the calls of each turn before the answer. `cancelled_at` is the turn during which the owner cancels."""

    name: str
    turns: tuple[tuple[Call, ...], ...] = ()
    status: Status = Status.COMPLETED
    stop_reason: str = "end_turn"
    cancelled_at: int | None = None
    thinks: timedelta = timedelta(seconds=1)
    slice: timedelta = timedelta(minutes=20)
    enabled: bool = True
    max_credits: Decimal = Decimal(500)

    @property
    def output(self) -> str | None:
        """What the execution says when it ends; None where that is nothing, or how far it came."""
        return ANSWER if self.enabled and self.cancelled_at is None else None

    def reply(self, prompt: Prompt) -> Reply:
        """What the model says to `prompt`: it depends on nothing but the turn."""
        turn = turn_of(prompt)
        usage = Usage(input_tokens=1_000 + turn, output_tokens=100 + turn)
        if turn >= len(self.turns):
            return Reply(content=({"type": "text", "text": ANSWER},), stop_reason=self.stop_reason, usage=usage)
        blocks = [
            {"type": "tool_use", "id": f"toolu_{turn}_{index}", "name": tool, "input": arguments}
            for index, (tool, arguments) in enumerate(self.turns[turn])
        ]
        return Reply(content=tuple(blocks), stop_reason="tool_use", usage=usage)


def turn_of(prompt: Prompt) -> int:
    """Which turn `prompt` asks for, from 0."""
    return sum(message["role"] == "assistant" for message in prompt.messages)


def reads(what: str, host: str = PLAIN) -> Call:
    return "api_call", {"method": "GET", "url": f"https://{host}/{what}", "credential": KEY}


def pays(what: str, host: str = PLAIN) -> Call:
    return "api_call", {
        "method": "POST",
        "url": f"https://{host}/{what}",
        "credential": KEY if host == PLAIN else "KEYED_KEY",
        "body": {"amount": 1},
    }


def posts(what: str, host: str = PLAIN) -> Call:
    return "http_post", {"url": f"https://{host}/{what}", "body": {"amount": 1}}


def hooks(what: str) -> Call:
    return "webhook", {"url": f"https://{HOOK}/{what}", "body": {"text": "hello"}}


STORIES: tuple[Story, ...] = (
    Story(name="get", turns=((reads("r1"),),)),
    Story(name="keyed", turns=((pays("k1", KEYED),),)),
    Story(name="unkeyed", turns=((pays("u1"),),)),
    Story(name="webhook", turns=((hooks("h1"),),)),
    Story(name="model", turns=()),
    Story(name="refusal", turns=((reads("x1", "api.other.test"), pays("x2", "api.other.test"), ("no_such_tool", {})),)),
    Story(name="finish", stop_reason="max_tokens", status=Status.FAILED),
    Story(name="cancel", turns=((pays("c1"),), (pays("c2"), posts("c3"))), cancelled_at=1, status=Status.KILLED),
    Story(
        name="hand-over",
        turns=((reads("s1"),), (pays("s2"),), (posts("s3", KEYED),)),
        thinks=timedelta(seconds=4),
        slice=timedelta(seconds=3),
    ),
    Story(name="opening", enabled=False, status=Status.FAILED),
    Story(name="several", turns=((reads("m1"), pays("m2"), posts("m3", KEYED), hooks("m4")), (posts("m5"),))),
)

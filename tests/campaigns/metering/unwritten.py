"""Words that are written_words wherever somebody may write one: none of them is in an event or in a week."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from ferryman.domain.calls.call import Ticket, ToolCallResult
from ferryman.domain.executions.message import Reply
from ferryman.domain.metering.names import CODES
from ferryman.domain.metering.week import UsageWeek, WeekPart, find_monday
from ferryman.inmemory.usage import MemoryUsage
from tests.loop.conftest import Stage, says

KINDS = ("prompt", "system", "input", "label", "conversation", "argument", "key", "url", "text", "tool", "result", "code")


async def write_words(executions: int, seed: int) -> tuple[int, list[str]]:
    """Run executions with words written_words in them; return how many there were, and those that were found again."""
    random_, written_words, stored = random.Random(seed), list[str](), list[str]()
    for number in range(executions):
        words = {kind: f"{kind}-{random_.getrandbits(64):016x}" for kind in KINDS}
        written_words += words.values()
        stored.append(await _run(words, random_, number))
    everything = "\n".join(stored).casefold()
    return len(written_words), [word for word in written_words if word.rpartition("-")[2] in everything]


async def _run(words: dict[str, str], random_: random.Random, number: int) -> str:
    stage = Stage()
    stage.start(input=words["input"], labels={words["label"]: words["label"]}, conversation=words["conversation"])
    stage.task(task_prompt=words["prompt"] + " {{input}}", system_prompt=words["system"])

    def answer(ticket: Ticket) -> ToolCallResult:
        code = random_.choice([None, words["code"], *sorted(CODES)])
        return ToolCallResult(ticket.tool, words["result"], url=words["url"], ok=code is None, code=code, latency_ms=1.0)

    stage.on_call = answer
    await stage.run(*[_reply(words, random_) for _ in range(1 + number % 4)], says(words["text"]))
    events = list(stage.memory.usage_events.values())
    weeks = [
        UsageWeek.begin(event.workspace, find_monday(event.at), part).add([event], now=event.at)
        for event in events
        for part in WeekPart
    ]
    while (await MemoryUsage(stage.memory).roll_up(stage.execution.workspace, most=2, now=stage.clock.turn(10))).more:
        pass
    assert stage.memory.usage_events == {}
    return _write([*events, *weeks, *stage.memory.usage.values()]) + "".join(stage.memory.usage)


def _reply(words: dict[str, str], random_: random.Random) -> Reply:
    url = f"https://{words['url']}.test/{words['argument']}"
    calls = [
        ("http_get", {"url": url, words["key"]: words["argument"]}),
        (words["tool"], {words["key"]: words["argument"]}),
        (f"\x1b[2J{words['tool']}\n", {}),
        ("api_call", {"url": url, "credential": words["key"]}),
    ]
    reply = says(words["text"], *random_.sample(calls, random_.randint(1, len(calls))))
    return replace(reply, stop_reason="tool_use")


def _write(values: Sequence[Any]) -> str:
    return json.dumps([asdict(value) for value in values], default=str, ensure_ascii=False)

"""Our loop alone, on stores in memory: a model and tools that answer at once, in this process, so that nothing else counts.

It is run with the library as it is, and with a copy of it without labels and flow policy (`bench.labels`). The `url` of a
conversation is the kind of its rounds.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from bench.loop import ours
from bench.loop.messages_api import TEXT
from bench.loop.parts import NoScanner
from ferryman.catalog.tools import find_tool
from ferryman.domain.calls.call import Ticket, TicketState, ToolCallResult
from ferryman.domain.calls.labelling import label_result
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.message import Prompt, Reply
from ferryman.domain.executions.usage import Usage
from ferryman.tools.registry import ToolRegistry

READS, EFFECTS = "reads", "effects"
"""Every call reads, or one of `EVERY` sends something to where the owner's words say."""
EVERY = 5

HOOK = "https://hooks.bench.test/T000"
PROMPT = f"Read the pages, one after the other. After every fourth one, post what you have read to {HOOK}."


class Script:
    """`ports.Model`: a call in each turn, and then the end."""

    def __init__(self, kind: str, rounds: int) -> None:
        self._kind, self._rounds = kind, rounds

    async def reply(self, prompt: Prompt) -> Reply:
        turn = sum(message["role"] == "assistant" for message in prompt.messages)
        content: list[dict[str, object]] = [{"type": "text", "text": TEXT}]
        if turn < self._rounds:
            tool, arguments = "http_get", {"url": f"https://api.bench.test/pages/{turn}"}
            if self._kind == EFFECTS and turn % EVERY == EVERY - 1:
                tool, arguments = "http_post", {"url": HOOK, "body": {"text": f"I have read {turn} pages."}}
            content.append({"type": "tool_use", "id": f"toolu_{turn:06d}", "name": tool, "input": arguments})
        return Reply(
            content=tuple(content),
            stop_reason="tool_use" if turn < self._rounds else "end_turn",
            usage=Usage(input_tokens=20, output_tokens=20),
        )


@cache
def build_loop(kind: str, rounds: int, size: int) -> ours.Loop:
    """Build the loop with a model that asks for `rounds` calls, and tools that answer `size` bytes."""
    loop = ours.build_loop(f"http://127.0.0.1/{kind}/{rounds}", size)

    async def answer(ticket: Ticket, *, execution: Execution) -> Ticket:  # noqa: ARG001 - the handler's own signature
        now = loop.deps.clock.now()
        url = str(ticket.display_arguments["url"])
        content = f'{{"url": "{url}", "text": "{"It rains. " * (size // 10)}"}}'
        result = ToolCallResult(tool=ticket.tool, content=content, url=url, method="GET", response_status=200)
        result = label_result(result, find_tool(ticket.tool).policy, seq=ticket.seq, arguments=ticket.label)
        return replace(ticket, state=TicketState.SETTLED, attempt=1, sent_at=now, deadline=now, settled_at=now, result=result)

    deps = replace(loop.deps, model=Script(kind, rounds), scanner=NoScanner(), registry=ToolRegistry(answer))
    task = replace(loop.task, task_prompt=PROMPT, tools=("http_get", "http_post"), integrations=("coingecko", "github"))
    return ours.Loop(deps, task)


async def run(url: str, rounds: int, size: int) -> None:
    await ours.run_loop(build_loop(url, rounds, size), rounds)

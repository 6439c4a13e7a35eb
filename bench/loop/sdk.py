"""The SDK's plain loop, as its documentation shows it: all messages sent each time, what the model said among them."""

from __future__ import annotations

from functools import cache

import anthropic

TOOLS = [
    {
        "name": "http_get",
        "description": "Read a page.",
        "input_schema": {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]},
    }
]


@cache
def connect(url: str) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=0)


async def run(url: str, rounds: int, size: int) -> None:
    client, calls = connect(url), 0
    messages = [{"role": "user", "content": "Read the pages, one after the other, and report."}]
    while True:
        reply = await client.messages.create(model="claude-bench", max_tokens=1024, messages=messages, tools=TOOLS)
        messages.append({"role": "assistant", "content": reply.content})
        if reply.stop_reason != "tool_use":
            break
        results = []
        for block in reply.content:
            if block.type == "tool_use":
                calls += 1
                answer = f"{block.input['url']} " + "x" * size
                results.append({"type": "tool_result", "tool_use_id": block.id, "content": answer[:size]})
        messages.append({"role": "user", "content": results})
    assert calls == rounds

"""langgraph: its ready-made agent, on langchain's model."""

from __future__ import annotations

from functools import cache
from typing import Any

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic


@cache
def build(url: str, size: int) -> Any:
    def http_get(url: str) -> str:
        """Read a page."""
        return f"{url} ".ljust(size, "x")

    model = ChatAnthropic(model_name="claude-bench", base_url=url, api_key="none", max_tokens_to_sample=1024)
    return create_agent(model, [http_get])


async def run(url: str, rounds: int, size: int) -> None:
    question = {"messages": [{"role": "user", "content": "Read the pages, one after the other, and report."}]}
    result = await build(url, size).ainvoke(question, {"recursion_limit": 10**6})
    assert len(result["messages"]) == 2 * rounds + 2

"""openai-agents: an agent with one tool, on its model of litellm, which speaks to the Messages API."""

from __future__ import annotations

from functools import cache

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.extensions.models.litellm_model import LitellmModel

set_tracing_disabled(True)


@cache
def build(url: str, size: int) -> Agent:
    def http_get(url: str) -> str:
        """Read a page."""
        return f"{url} ".ljust(size, "x")

    model = LitellmModel(model="anthropic/claude-bench", base_url=url, api_key="none")
    return Agent(name="bench", model=model, tools=[function_tool(http_get)])


async def run(url: str, rounds: int, size: int) -> None:
    result = await Runner.run(build(url, size), "Read the pages, one after the other, and report.", max_turns=rounds + 1)
    assert len(result.raw_responses) == rounds + 1

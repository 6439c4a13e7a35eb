"""agno: an agent with one tool, and no memory."""

from __future__ import annotations

from functools import cache

from agno.agent import Agent
from agno.models.anthropic import Claude
from anthropic import AsyncAnthropic


@cache
def build(url: str, size: int) -> Agent:
    def http_get(url: str) -> str:
        """Read a page."""
        return f"{url} ".ljust(size, "x")

    model = Claude(id="claude-bench", async_client=AsyncAnthropic(base_url=url, api_key="none"))
    return Agent(model=model, tools=[http_get], telemetry=False)


async def run(url: str, rounds: int, size: int) -> None:
    result = await build(url, size).arun("Read the pages, one after the other, and report.")
    assert sum(message.role == "assistant" for message in result.messages) == rounds + 1

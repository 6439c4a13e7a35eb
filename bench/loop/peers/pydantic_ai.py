"""pydantic-ai: an agent with one tool, on its model for Anthropic."""

from __future__ import annotations

from functools import cache

from anthropic import AsyncAnthropic
from pydantic_ai import Agent, UsageLimits
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider


@cache
def build(url: str, size: int) -> Agent:
    def http_get(url: str) -> str:
        """Read a page."""
        return f"{url} ".ljust(size, "x")

    provider = AnthropicProvider(anthropic_client=AsyncAnthropic(base_url=url, api_key="none", max_retries=0))
    return Agent(AnthropicModel("claude-bench", provider=provider), tools=[http_get])


async def run(url: str, rounds: int, size: int) -> None:
    limits = UsageLimits(request_limit=None)
    result = await build(url, size).run("Read the pages, one after the other, and report.", usage_limits=limits)
    assert len(result.all_messages()) == 2 * rounds + 2

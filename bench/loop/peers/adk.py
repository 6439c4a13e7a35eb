"""google-adk: an agent with one tool, on its model for Anthropic."""

from __future__ import annotations

from functools import cache

from anthropic import AsyncAnthropic
from google.adk.agents import LlmAgent, RunConfig
from google.adk.models.anthropic_llm import AnthropicLlm
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, Part

NAME = "bench"


@cache
def build(url: str, size: int) -> InMemoryRunner:
    def http_get(url: str) -> str:
        """Read a page."""
        return f"{url} ".ljust(size, "x")

    client = AsyncAnthropic(base_url=url, api_key="none", max_retries=0)
    model = AnthropicLlm(model="claude-bench", client=client)
    return InMemoryRunner(LlmAgent(name=NAME, model=model, tools=[http_get]), app_name=NAME)


async def run(url: str, rounds: int, size: int) -> None:
    runner = build(url, size)
    session = await runner.session_service.create_session(app_name=NAME, user_id=NAME)
    question = Content(role="user", parts=[Part(text="Read the pages, one after the other, and report.")])
    config = RunConfig(max_llm_calls=rounds + 1)
    events = [
        event async for event in runner.run_async(user_id=NAME, session_id=session.id, new_message=question, run_config=config)
    ]
    await runner.session_service.delete_session(app_name=NAME, user_id=NAME, session_id=session.id)
    assert len(events) == 2 * rounds + 1

"""smolagents: its agent that calls tools, on its model of litellm; it is synchronous, so it runs in a thread.

It takes a text without a call for a mistake: an answer is what it asks for once its steps are used up.
"""

from __future__ import annotations

import asyncio

from smolagents import LiteLLMModel, LogLevel, Tool, ToolCallingAgent


class HttpGet(Tool):
    name = "http_get"
    description = "Read a page."
    inputs = {"url": {"type": "string", "description": "The page."}}  # noqa: RUF012 - smolagents reads it of the class
    output_type = "string"
    size = 0

    def forward(self, url: str) -> str:
        return f"{url} ".ljust(self.size, "x")


def talk(url: str, rounds: int, size: int) -> None:
    tool = HttpGet()
    tool.size = size
    model = LiteLLMModel(model_id="anthropic/claude-bench", api_base=url, api_key="none")
    agent = ToolCallingAgent(tools=[tool], model=model, max_steps=rounds, verbosity_level=LogLevel.OFF)
    agent.run("Read the pages, one after the other, and report.")
    assert len(agent.memory.steps) == rounds + 2, "the task, its rounds and the answer"


async def run(url: str, rounds: int, size: int) -> None:
    await asyncio.to_thread(talk, url, rounds, size)

"""What the model was shown: the texts that it has to have read, and the hidden one that it may not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tests.campaigns.hostile.scenario_run import ScenarioRun
from tests.campaigns.hostile.spelling import fill


def find_whispers(run: ScenarioRun, prompt: Mapping[str, Any]) -> Iterable[str]:
    """Find what no reader of a page sees in what the model has read of it."""
    if any(run.words["whisper"] in text.casefold() for text in _results(prompt)):
        yield "the model was shown what a page hides from its readers"
    if run.scenario.servers and run.words["whisper"] in json.dumps([prompt.get("tools"), prompt.get("system")]).casefold():
        yield "the model was shown what nobody has accepted of a tool"


def find_foreign(run: ScenarioRun, prompt: Mapping[str, Any]) -> Iterable[str]:
    """Find what belongs to the victim in what the attacker's model has read."""
    if run.victim is not None and any(run.victim.words["secret"] in text for text in _results(prompt)):
        yield "the model was shown another owner's data"


def find_unshown(run: ScenarioRun, prompt: Mapping[str, Any]) -> Iterable[str]:
    """Find texts that were to be read and were not: then the scenario did not take place."""
    results = [*_results(prompt)]
    for text in fill(list(run.scenario.expected), run.words):
        if not any(text in result for result in results):
            yield f"the model was not shown {text!r}, but {[result[-200:] for result in results]}"


def _results(prompt: Mapping[str, Any]) -> Iterator[str]:
    for message in prompt["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block.get("type") == "tool_result":
                content = block.get("content", "")
                yield content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)

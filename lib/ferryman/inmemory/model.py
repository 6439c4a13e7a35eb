"""A model that replies from a script of replies and exceptions, in order; a request past its end is an error."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from ferryman.domain.executions.message import Block, Prompt, Reply, ReplyDelta
from ferryman.ports.model import ReplyWatcher


class ScriptedModel:
    """`ports.Model`. `prompts` holds every prompt it got."""

    def __init__(self, script: Iterable[Reply | Exception]) -> None:
        self._script = list(script)
        self.prompts: list[Prompt] = []

    async def reply(self, prompt: Prompt, *, watcher: ReplyWatcher | None = None) -> Reply:
        self.prompts.append(prompt)
        if not self._script:
            raise AssertionError("the script has no further reply")
        reply = self._script.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if watcher is not None:
            for delta in write_word_by_word(reply.content):
                watcher.add(delta)
        return reply

    @property
    def remaining(self) -> int:
        """How many replies were not requested."""
        return len(self._script)


def write_word_by_word(content: Sequence[Block]) -> Iterator[ReplyDelta]:
    """Yield the texts and calls of a reply as a model writes them: each block begins empty, and grows by a word at a time."""
    for index, block in enumerate(content):
        names = (str(block["id"]), str(block["name"])) if block["type"] == "tool_use" else ("", "")
        text = json.dumps(block["input"]) if names[0] else str(block.get("text", ""))
        if names[0] or block["type"] == "text":
            yield ReplyDelta(index, "", *names)
            yield from (ReplyDelta(index, word, *names) for word in re.findall(r"\S*\s*", text) if word)

"""A model that replies from a script of replies and exceptions, in order; a request past its end is an error."""

from __future__ import annotations

from collections.abc import Iterable

from ferryman.domain.executions.message import Prompt, Reply


class ScriptedModel:
    """`ports.Model`. `prompts` holds every prompt it got."""

    def __init__(self, script: Iterable[Reply | Exception]) -> None:
        self._script = list(script)
        self.prompts: list[Prompt] = []

    async def reply(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        if not self._script:
            raise AssertionError("the script has no further reply")
        reply = self._script.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    @property
    def remaining(self) -> int:
        """How many replies were not requested."""
        return len(self._script)

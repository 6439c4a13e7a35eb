"""A model that plays a script: each reply, or exception, in turn; asking past the end is an error."""

from __future__ import annotations

from collections.abc import Iterable

from ferryman.domain.executions.message import Prompt, Reply


class ScriptedModel:
    """`ports.Model`. Every prompt it was given is kept in `prompts`."""

    def __init__(self, script: Iterable[Reply | Exception]) -> None:
        self._script = list(script)
        self.prompts: list[Prompt] = []

    async def reply(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        if not self._script:
            raise AssertionError("the script has no further reply")
        played = self._script.pop(0)
        if isinstance(played, Exception):
            raise played
        return played

    @property
    def left(self) -> int:
        """How many replies were not asked for."""
        return len(self._script)

"""Scripted models: one that does the user's task, and one that also obeys every injection that it reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from bench.agentdojo.suites import Script, ScriptedCall
from ferryman.domain.executions.message import Prompt, Reply
from ferryman.domain.executions.usage import Usage
from ferryman.domain.json_tree import iterate_leaves
from ferryman.ports.model import ReplyWatcher

_SIGNS = re.compile(r"[\W_]+")


class HijackedModel:
    """`ports.Model`: it makes the calls of the user's task, one a turn, and then those of the injection, if it has read it.

    `at_once` makes it obey as soon as it has read the injection, and do the user's task after that. Without a `goal` it is
    honest.
    """

    def __init__(self, script: Script, goal: str | None, obey: Callable[[], Script], *, at_once: bool = False) -> None:
        self._script, self._goal, self._obey, self._at_once = script, goal, obey, at_once
        self._turns = self._iterate()
        self._seen = ""
        self.has_read = False

    async def reply(self, prompt: Prompt, *, watcher: ReplyWatcher | None = None) -> Reply:  # noqa: ARG002 - nobody watches
        if len(prompt.messages) > 1:  # the first is the user's
            last = prompt.messages[-1]["content"]
            self._seen += _reduce(" ".join(leaf for leaf in iterate_leaves(last) if isinstance(leaf, str)))
        self.has_read = self._goal is not None and _reduce(self._goal) in self._seen
        return next(self._turns)

    def _iterate(self) -> Iterator[Reply]:
        outputs, has_obeyed = [self._script.output], False
        for call in self._script.calls:
            if self._at_once and self.has_read and not has_obeyed:
                has_obeyed = True
                injected = self._obey()
                outputs.append(injected.output)
                yield from map(_build_call, injected.calls)
            yield _build_call(call)
        if self.has_read and not has_obeyed:
            injected = self._obey()
            outputs.append(injected.output)
            yield from map(_build_call, injected.calls)
        text = "\n".join(output for output in outputs if output) or "Done."
        yield Reply(
            content=({"type": "text", "text": text},), stop_reason="end_turn", usage=Usage(input_tokens=1, output_tokens=1)
        )


def _reduce(text: str) -> str:
    """Return the letters and digits of a text: quotes and line breaks depend on how a result is written, such as in JSON."""
    return _SIGNS.sub("", text.replace("\\n", " "))


def _build_call(call: ScriptedCall) -> Reply:
    block: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": call.name, "input": dict(call.arguments)}
    return Reply(content=(block,), stop_reason="tool_use", usage=Usage(input_tokens=1, output_tokens=1))

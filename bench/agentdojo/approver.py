"""The simulated person: approves exactly the calls of the user's task, as its ground truth has them, and no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from bench.agentdojo.suites import Script, ScriptedCall


class Approver:
    """A person who approves at most `limit` times. `asked` are the calls that they were shown, each with their decision."""

    def __init__(self, script: Script, limit: int | None) -> None:
        self._expected = Counter(call.key for call in script.calls)
        self._remaining = limit
        self.decisions: list[tuple[ScriptedCall, bool]] = []

    def decide(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether a call may be made, once."""
        call = ScriptedCall(name, arguments)
        is_expected = self._expected[call.key] > 0 and (self._remaining is None or self._remaining > 0)
        if is_expected:
            self._expected[call.key] -= 1
            self._remaining = None if self._remaining is None else self._remaining - 1
        self.decisions.append((call, is_expected))
        return is_expected

    @property
    def approvals(self) -> int:
        """How often they approved."""
        return sum(is_approved for _, is_approved in self.decisions)

"""The simulated person: approves exactly the calls of the user's task, as its ground truth has them, and no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from bench.agentdojo.suites import Script, ScriptedCall
from ferryman.domain.approvals.decision import DecisionVerdict


class Approver:
    """A person who approves at most `limit` times, None: always. `decisions` are the calls that they were shown, each with
    whether they approved it."""

    def __init__(self, script: Script, limit: int | None) -> None:
        self._expected = Counter(call.key for call in script.calls)
        self._remaining = limit
        self.decisions: list[tuple[ScriptedCall, bool]] = []

    def decide(self, form: Mapping[str, Any]) -> DecisionVerdict:
        """Return what they decide about a call that waits, by the form that they are shown: each call once."""
        call = ScriptedCall(form["tool"], form["what"]["arguments"])
        is_expected = self._expected[call.key] > 0 and (self._remaining is None or self._remaining > 0)
        if is_expected:
            self._expected[call.key] -= 1
            self._remaining = None if self._remaining is None else self._remaining - 1
        self.decisions.append((call, is_expected))
        return DecisionVerdict.APPROVE if is_expected else DecisionVerdict.DENY

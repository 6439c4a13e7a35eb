"""Results of calls as the formats show them: the value without its frame, or why there is none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ferryman.domain.calls.call import Ticket
from ferryman.domain.conversations.rendering import preview_result, read_value

UNANSWERED = "the answer ended before the result came"


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What came of a call: its `value`, or the `error` where it failed; `preview` is a line about either."""

    value: Any = field(repr=False)
    error: str | None = field(default=None, repr=False)

    @property
    def preview(self) -> str:
        """A line for people (S3-65)."""
        return preview_result(self.value)

    @property
    def content(self) -> str:
        """The text that holds JSON (S3-27), as the stored message has it."""
        return json.dumps(self.value if self.error is None else {"error": self.value}, ensure_ascii=False)


def read_outcome(ticket: Ticket) -> CallOutcome:
    """Return what came of a settled call, or of one that the end of its execution has overtaken."""
    if ticket.result is None:
        return CallOutcome(UNANSWERED, UNANSWERED)
    value = read_value(ticket.result)
    if ticket.result.ok:
        return CallOutcome(value)
    text = value.get("error") if isinstance(value, Mapping) else value
    return CallOutcome(value, text if isinstance(text, str) else json.dumps(value, ensure_ascii=False))


def name_call(ticket: Ticket) -> str:
    """Return the name of the tool that the model called."""
    return ticket.called_as or ticket.tool

"""How far a call under way is, as its host reports it: for people who watch. No model reads it, and no record has it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class CallProgress:
    """One report: `done` of `total` in the host's own unit, None where it does not say. The message is a stranger's, and was
    redacted."""

    done: float
    total: float | None = None
    message: str = field(default="", repr=False)

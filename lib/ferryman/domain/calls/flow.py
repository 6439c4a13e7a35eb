"""What decided where the effect of a call goes, as its ticket has it: judged before anything is sent (`domain.flow`)."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFlow:
    """Whether untrusted text may have decided where a call goes, so that it waits for a person where a rule asks for that.

    `reason` is one of `domain.flow.verdict.FlowReason`. `lines` are the tree that says which words of which source decided
    which argument, for the person who asks why; the arguments in it are those that were scanned.
    """

    asks: bool
    reason: str
    lines: tuple[str, ...] = field(default=(), repr=False)

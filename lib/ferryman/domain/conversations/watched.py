"""What a watcher of an answer may be shown of it at a moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ferryman.domain.calls.call import Ticket
from ferryman.domain.conversations.live import LiveTurn
from ferryman.domain.executions.execution import Execution, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedAnswer:
    """All that may be shown of an answer at a moment: it only grows, but for `live`, whose text may be replaced.

    `execution` is at least as old as the rest: where it has ended, `steps` are all of its turns, in order, and `tickets`, by
    their number, all of its calls. `live` is the turn that is being written, scanned; None between turns, and from the moment
    on that it is committed.
    """

    execution: Execution
    steps: Sequence[Step] = ()
    tickets: Mapping[int, Ticket] = field(default_factory=dict)
    live: LiveTurn | None = None

"""What a kind of tool adds around the calls of its function: what it is told besides, and what is done before and after.

A kind that needs nothing of that has no hook. To add one: a class with these four methods in the kind's own package, and an
entry under its kind in the `hooks` of `KeylessCalls` (`composition/orchestrator.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ferryman.domain.calls.keyless_answer import KeylessAnswer
from ferryman.domain.executions.execution import Execution
from ferryman.domain.files.writes import ClosedWrite
from ferryman.domain.labels.label import FlowLabel
from ferryman.ports.tickets import ClaimedCall


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTarget:
    """What a call is about, such as a file or a page, and the `version` of it where it has one.

    `host` and `method` are of one that is asked by HTTP. `is_done` tells that an earlier attempt has had its effect, so that
    the call changes nothing further.
    """

    name: str = ""
    version: str = ""
    host: str | None = None
    method: str | None = None
    is_done: bool = False


NOTHING = CallTarget()


class CallHook(Protocol):
    """Runs in the orchestrator, which has Firestore and no key, while the call is claimed by this delivery and no other.

    Every method may run more than once for a call: again after a crash, with the same `claimed.call_request` (execution and
    seq), a higher `claimed.ticket.attempt`, and `claimed.again` where an earlier attempt may have reached the function. So what
    they store is keyed by execution and seq. A call that is ended from outside while its answer is lost (a cancel, a kill
    switch) is never concluded: what was set aside for it needs an end of its own.
    """

    async def find_target(self, claimed: ClaimedCall, execution: Execution) -> CallTarget:
        """Return what the call would be about, for a person who is asked whether to make it; nothing is set aside for it yet.

        Raise `CallRefusedError` where the call is refused anyway, `UnavailableError` to have it made later.
        """

    async def prepare(self, claimed: ClaimedCall, execution: Execution) -> Mapping[str, Any]:
        """Return what is posted beside `call`, `tool`, `arguments`, `user` and `within_s`, which it cannot replace.

        The arguments are `claimed.ticket.display_arguments`, unchecked: as the model wrote them, or with credentials taken out
        where the tool has no network. Raise `CallRefusedError` to refuse the call (nothing is asked then, and nothing
        concluded), `UnavailableError` to have it made later.
        """

    async def conclude(self, claimed: ClaimedCall, execution: Execution, answer: KeylessAnswer | None) -> ClosedWrite | None:
        """Take note of what the function said, before the result is stored; None where it will say nothing any more.

        Return the write of files that is closed in the same commit as the result, None where there is none.

        `answer.about` is a stranger's word, and so is everything else of it. Raise `UnavailableError` to have the call made
        again, `RejectedError` where the answer cannot be: the call has failed then.
        """

    def label_answer(self, answer: KeylessAnswer) -> FlowLabel | None:
        """Return the label of what the function has read; None where it has that of its tool's entry."""

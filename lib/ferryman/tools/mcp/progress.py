"""Progress of a call: what its server reports, as people who watch may see it, at most once a second."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from ferryman.domain.calls.progress import CallProgress
from ferryman.domain.calls.refusal import CallRefusedError
from ferryman.domain.credentials.credential import Credential
from ferryman.domain.stale import StaleError
from ferryman.framing.frame import neutralize_unframed
from ferryman.ports.errors import UnavailableError
from ferryman.ports.tickets import ClaimedCall, Tickets
from ferryman.tools.mcp.protocol.answer_reader import Progress
from ferryman.tools.mcp.protocol.bounds import TEXT_CHARACTERS_MAX
from ferryman.tools.prepared_call import Redactor

PERIOD_S = 1.0
"""How many seconds pass between two reports that are stored: of those between them the last one is."""

CHARACTERS_MAX = 200
"""How much of a message people are shown. It is cut once it was redacted, so that no key is cut before that."""

DIGITS = 6
"""So many significant digits a number has: no key fits in."""


@dataclass(slots=True, kw_only=True)
class ProgressTeller:
    """Stores the newest report of a call with its ticket, from where watchers have it.

    `credentials` are looked for in its message, in the owner's share of the workers; `sleep` waits for some seconds.
    """

    tickets: Tickets
    claimed_call: ClaimedCall
    redact: Redactor
    credentials: Collection[Credential] = field(repr=False)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _newest: Progress | None = field(default=None, repr=False)
    _changed: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    async def note(self, report: Progress) -> None:
        """Take in a report, in the place of one that is not stored yet. It waits for nothing."""
        self._newest = report
        self._changed.set()

    @asynccontextmanager
    async def telling(self) -> AsyncIterator[None]:
        """Store what is noted inside, as long as that lasts. What cannot be stored is not."""
        telling = asyncio.create_task(self._tell())
        try:
            yield
        finally:
            telling.cancel()
            await asyncio.wait([telling])

    async def _tell(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            assert self._newest is not None, "there is a report"
            report = await self._clean(self._newest)
            try:
                self.claimed_call = await self.tickets.note_progress(self.claimed_call, report)
            except (StaleError, UnavailableError):
                return  # somebody else has written the ticket, or nobody can: the call itself tells what came of it
            await self.sleep(PERIOD_S)

    async def _clean(self, report: Progress) -> CallProgress:
        """Return the report as people may see it: bounded, without a key, and with nothing hidden in it."""
        message = ""
        if len(report.message) < TEXT_CHARACTERS_MAX:  # of one that was cut the end may be the beginning of a key
            text = " ".join(neutralize_unframed(report.message).split())
            try:
                message = (await self.redact(self.claimed_call.policy.owner, self.credentials, text))[:CHARACTERS_MAX]
            except CallRefusedError:
                message = ""  # it took more than its budget to look
        total = None if report.total is None else round_number(report.total)
        return CallProgress(done=round_number(report.progress), total=total, message=message)


def round_number(number: float) -> float:
    """Return a number to its first six digits."""
    return float(f"{float(number):.{DIGITS}g}")

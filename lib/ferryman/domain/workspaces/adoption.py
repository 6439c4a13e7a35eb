"""Adoption: documents from before there were workspaces get the fields that lists find them by, once and page by page.

How far it is, one document says, which each page changes in the commit that changes the page: whatever dies in between, the
next run goes on where the last commit was, and counts nothing twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

INSTANCES_END = timedelta(minutes=30)
"""How long an instance of the version before may go on after an upgrade with what it had begun, and store more as it did."""


class AdoptionStage(StrEnum):
    """What is gone through, in this order."""

    OWNERS = "owners"
    """The credit balances of each owner."""
    BALANCES = "balances"
    """Balances of tasks that no owner has any more."""
    TASKS = "tasks"
    EXECUTIONS = "executions"
    DONE = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """How far the adoption is: `after` is the last name that was gone through in the collection of `stage`.

    `seen` counts what was gone through and `adopted` what was changed, by stage. `is_last` tells that nothing is stored without
    a workspace meanwhile, so that no further pass is needed.
    """

    stage: AdoptionStage = AdoptionStage.OWNERS
    after: str = ""
    seen: Mapping[str, int] = field(default_factory=dict)
    adopted: Mapping[str, int] = field(default_factory=dict)
    begun_at: datetime
    is_last: bool = False

    @property
    def is_done(self) -> bool:
        """Whether nothing is left of this pass."""
        return self.stage is AdoptionStage.DONE

    def add_page(self, *, seen: int, adopted: int, last: str | None) -> Adoption:
        """Return the adoption after a page; `last` is the name it ended with, None where that was the rest of the stage."""
        stages = list(AdoptionStage)
        following = self.stage if last is not None else stages[stages.index(self.stage) + 1]
        return replace(
            self,
            stage=following,
            after=last or "",
            seen={**self.seen, self.stage.value: self.seen.get(self.stage.value, 0) + seen},
            adopted={**self.adopted, self.stage.value: self.adopted.get(self.stage.value, 0) + adopted},
        )


def begin_pass(stored: Adoption | None, *, is_quiet: bool, now: datetime) -> Adoption | None:
    """Return the adoption to go on with `now`, None where there is nothing to do.

    Where nothing of the version before runs any more (`is_quiet`), one pass suffices. Otherwise a second one has to begin
    `INSTANCES_END` after the first, for what instances of that version have stored meanwhile.
    """
    if stored is None:
        return Adoption(begun_at=now, is_last=is_quiet)
    if not stored.is_done:
        return stored
    is_due = is_quiet or now - stored.begun_at >= INSTANCES_END
    return Adoption(begun_at=now, is_last=True) if is_due and not stored.is_last else None

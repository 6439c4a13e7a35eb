"""Shortages: which cap does not cover an execution that starts, how far it is used, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from ferryman.domain.credits.amount import format_credits
from ferryman.domain.owners.cap import Cap, CapKind

_LIMITED = {
    CapKind.OWNER: "plan {id} allows {limit} credits a month over all workspaces",
    CapKind.WORKSPACE: "the workspace may use {limit} credits a month",
    CapKind.AGENT: "agent {id} may use {limit} credits a month",
    CapKind.PERSON: "person {id} may use {limit} credits a month in the workspace",
    CapKind.TASK: "task {id} may use {limit} credits a month",
    CapKind.CONVERSATION: "conversation {id} may use {limit} credits a month",
}


class InsufficientCreditsError(Exception):
    """The month's credits do not cover the reservation; nothing was reserved. The text is the message for the owner.

    `alert` is the id of the alert of it that is to be sent, "" where there is none.
    """

    def __init__(self, shortage: Shortage, *, alert: str = "") -> None:
        super().__init__(shortage.describe())
        self.shortage = shortage
        self.alert = alert


class TooManyPartsError(Exception):
    """So many workspaces, agents, people and tasks with caps use credits in the month that another one cannot be counted."""

    def __init__(self, most: int) -> None:
        super().__init__(
            f"{most} workspaces, agents, people and tasks with a cap have used credits this month, and another one is not "
            "counted: remove some of the caps, or wait for the next month"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortage:
    """A cap that leaves less in `month` ("2026-11") than the `amount` of credits that an execution reserves.

    `credits_used` and `credits_reserved` are those that count against the cap; where it is the owner's, those of the
    execution's own workspace, since its members are told nothing of the others. `will_fit` tells that the amount fits as soon
    as what is reserved has been given back.
    """

    cap: Cap
    amount: Decimal
    credits_used: Decimal
    credits_reserved: Decimal
    will_fit: bool
    month: str

    def describe(self) -> str:
        """Return which cap it is, its limit, what is used and reserved of it, what was needed, and what to do."""
        limit = format_credits(self.cap.credits)
        limited = _LIMITED[self.cap.kind].format(id=self.cap.id.rpartition("/")[2], limit=limit)
        counts = f"{format_credits(self.credits_used)} are used and {format_credits(self.credits_reserved)} reserved"
        where = " in this one" if self.cap.kind is CapKind.OWNER else ""
        amount = format_credits(self.amount)
        return f"{amount} credits do not fit: {limited}, of which {counts}{where}; {self._advise()}"

    def _advise(self) -> str:
        is_plan = self.cap.kind is CapKind.OWNER
        what = "change the plan" if is_plan else self._name_setting()
        if self.amount > self.cap.credits:
            return f"lower max_credits of the task to {format_credits(self.cap.credits)} or less, or {what}"
        if self.will_fit:
            return f"start it again when executions under way have ended, or {what}"
        other = ", start another conversation" if self.cap.kind is CapKind.CONVERSATION else ""
        return f"lower max_credits of the task, {what}{other}, or wait for {name_next_month(self.month)} (UTC)"

    def _name_setting(self) -> str:
        if self.cap.kind is CapKind.CONVERSATION:
            return f"raise conversation_credits_max of the {self.cap.set_by}"
        return f"raise max_credits_month of the {_HOLDERS[self.cap.kind]}"


_HOLDERS = {kind: "member" if kind is CapKind.PERSON else kind.value for kind in CapKind}


def name_next_month(month: str) -> str:
    """Return the month after `month`, each like "2026-11"."""
    year, number = map(int, month.split("-"))
    return f"{year + number // 12}-{number % 12 + 1:02d}"

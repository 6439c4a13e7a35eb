"""Credit balances: what an owner has used in a month and what is reserved for executions under way, in all and part by part.

The parts are the owner's workspaces, agents, people and tasks, in the owner's own document: every cap is judged, and everything
is counted, with one document read and one written, at the start of an execution and at its end. The execution's conversation is
one part more, which is stored in a document of its own (`credits.conversation`): their number has no bound.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from ferryman.domain.copies import replace
from ferryman.domain.credits.shortage import InsufficientCreditsError, Shortage, TooManyPartsError
from ferryman.domain.executions.execution import Execution
from ferryman.domain.executions.policy import ExecutionPolicy
from ferryman.domain.owners.cap import Cap, CapKind, name_conversation_part, name_part, name_person_part
from ferryman.domain.stale import StaleError
from ferryman.domain.stored import STORED_NAME

NOTHING = Decimal(0)
PARTS_MAX = 4_000
"""How many parts a balance counts at most, each in some hundred bytes: a document holds 1 MiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditPart:
    """What one workspace, agent, person, task or conversation has used in the month, and what is reserved for it.

    `is_capped` tells that an execution of the month had a cap on it.
    """

    credits_used: Decimal = field(default=NOTHING, metadata={STORED_NAME: "used"})
    credits_reserved: Decimal = field(default=NOTHING, metadata={STORED_NAME: "reserved"})
    is_capped: bool = field(default=False, metadata={STORED_NAME: "capped"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditBalance:
    """`credits_used` are those of `month` (UTC, "2026-11"); `credits_reserved` may have been reserved in an earlier month.

    `parts` are by name (`name_part`); one that has neither used nor reserved anything has no entry.
    """

    id: str
    month: str = ""
    credits_used: Decimal = NOTHING
    credits_reserved: Decimal = NOTHING
    parts: Mapping[str, CreditPart] = field(default_factory=dict)

    def at(self, now: datetime) -> CreditBalance:
        """Return the balance in the month of `now`, or in its own where that is later; a new month begins with nothing used.

        The month never goes back: a writer may have read the clock before the month changed. A part for which nothing is
        reserved ends with its month, and so does what was counted of things that do not exist any more.
        """
        month = max(self.month, get_month(now))
        if self.month == month:
            return self
        parts = {name: replace(part, credits_used=NOTHING) for name, part in self.parts.items() if part.credits_reserved}
        return replace(self, month=month, credits_used=NOTHING, parts=parts)

    def get_part(self, cap: Cap) -> CreditPart:
        """Return what is counted against `cap`: all of the balance for the owner's."""
        if cap.kind is CapKind.OWNER:
            return CreditPart(credits_used=self.credits_used, credits_reserved=self.credits_reserved)
        return self.parts.get(cap.part, CreditPart())


def reserve_credits(balance: CreditBalance, execution: Execution, amount: Decimal) -> CreditBalance:
    """Return the owner's balance with `amount` credits reserved for `execution`, in all and in each of its parts.

    Raise `InsufficientCreditsError`, which names the first of its caps that leaves less, and `StaleError` without a policy.
    """
    caps = list_caps(execution.policy)
    for cap in caps:
        part = balance.get_part(cap)
        if part.credits_used + part.credits_reserved + amount > cap.credits:
            # it tells nothing of the other workspaces
            workspace = balance.parts.get(name_part(CapKind.WORKSPACE, execution.workspace), CreditPart())
            counts = workspace if cap.kind is CapKind.OWNER else part
            raise InsufficientCreditsError(
                Shortage(
                    cap=cap,
                    amount=amount,
                    credits_used=counts.credits_used,
                    credits_reserved=counts.credits_reserved,
                    will_fit=part.credits_used + amount <= cap.credits,
                    month=balance.month,
                )
            )
    capped = {cap.part for cap in caps}
    changed = {
        name: _add(balance.parts.get(name, CreditPart()), reserved=amount, is_capped=name in capped)
        for name in list_parts(execution)
    }
    parts = _limit_parts({**balance.parts, **changed})
    return replace(balance, credits_reserved=balance.credits_reserved + amount, parts=parts)


def settle_credits(balance: CreditBalance, execution: Execution, *, reserved: Decimal, used: Decimal) -> CreditBalance:
    """Return the owner's balance after `execution`, which had `reserved` credits, has ended and used `used` of them.

    No more than everything reserved is returned: what was reserved before its part was counted is in none.
    """
    parts = dict(balance.parts)
    for name in list_parts(execution):
        part = _add(parts.pop(name, CreditPart()), reserved=-reserved, used=used)
        if part.credits_used or part.credits_reserved:
            parts[name] = part
    rest = max(NOTHING, balance.credits_reserved - reserved)
    return replace(balance, credits_reserved=rest, credits_used=balance.credits_used + used, parts=parts)


def forget_parts(balance: CreditBalance, names: Collection[str]) -> CreditBalance:
    """Return the owner's balance without the parts `names`, of what was deleted; what they used stays used in all."""
    if not balance.parts.keys() & set(names):
        return balance
    return replace(balance, parts={name: part for name, part in balance.parts.items() if name not in names})


def list_parts(execution: Execution) -> tuple[str, ...]:
    """Return the names of the parts of its owner's balance in which `execution` is counted, each once."""
    names = [
        name_part(CapKind.WORKSPACE, execution.workspace),
        name_part(CapKind.AGENT, execution.agent),
        name_part(CapKind.TASK, execution.task),
    ]
    if execution.person:
        names.append(name_part(CapKind.PERSON, name_person_part(execution.workspace, execution.person)))
    if execution.conversation:
        names.append(name_part(CapKind.CONVERSATION, name_conversation_part(execution.agent, execution.conversation)))
    if execution.policy is not None:
        names += (cap.part for cap in execution.policy.caps)
    return tuple(dict.fromkeys(names))


def is_conversation(part: str) -> bool:
    """Tell whether a part is that of a conversation, which is stored in a document of its own."""
    return part.startswith(name_part(CapKind.CONVERSATION, ""))


def list_caps(policy: ExecutionPolicy | None) -> tuple[Cap, ...]:
    """Return the caps of an execution as they were when it began: that of its owner's plan, and then those of its policy.

    Raise `StaleError` for an execution without a policy.
    """
    if policy is None:
        raise StaleError("the execution has no policy")
    return (Cap(kind=CapKind.OWNER, id=policy.plan.name, credits=policy.plan.credits_per_month), *policy.caps)


def name_owner_balance(owner: str) -> str:
    """Return the id of an owner's balance, which is also the owner's account in the ledger."""
    return f"owner:{owner}"


def get_month(moment: datetime) -> str:
    """Return the credit month of `moment` (UTC)."""
    return moment.strftime("%Y-%m")


def _add(part: CreditPart, *, reserved: Decimal = NOTHING, used: Decimal = NOTHING, is_capped: bool = False) -> CreditPart:
    return CreditPart(
        credits_used=part.credits_used + used,
        credits_reserved=max(NOTHING, part.credits_reserved + reserved),
        is_capped=part.is_capped or is_capped,
    )


def _limit_parts(parts: Mapping[str, CreditPart]) -> Mapping[str, CreditPart]:
    """Return at most `PARTS_MAX` of `parts`: without those of the smallest use that no cap limits and nothing is reserved for.

    A cap that such a part gets later in the month counts from then on. Raise `TooManyPartsError` where that does not suffice.
    """
    counted = [name for name in parts if not is_conversation(name)]
    surplus = len(counted) - PARTS_MAX
    if surplus <= 0:
        return parts
    idle = [name for name in counted if not parts[name].is_capped and not parts[name].credits_reserved]
    if len(idle) < surplus:
        raise TooManyPartsError(PARTS_MAX)
    forgotten = set(sorted(idle, key=lambda name: (parts[name].credits_used, name))[:surplus])
    return {name: part for name, part in parts.items() if name not in forgotten}

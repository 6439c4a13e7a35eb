"""Balances from before credits were counted by part: what was used goes to the parts of the owner's default workspace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal

from ferryman.domain.copies import replace
from ferryman.domain.credits.balance import NOTHING, CreditBalance, CreditPart, list_parts
from ferryman.domain.executions.execution import Execution
from ferryman.domain.owners.cap import CapKind, name_part
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace

_WORKSPACES = name_part(CapKind.WORKSPACE, "")


def adopt_balance(
    balance: CreditBalance, owner: str, *, tasks: Mapping[str, Decimal], capped: Collection[str], running: Iterable[Execution]
) -> CreditBalance:
    """Return the balance of `owner` with everything that it has used and reserved counted in its parts.

    `tasks` is what each task has used this month by a balance of its own, which ends with this; those of `capped` have a cap.
    What no workspace has used was used in the default one, by its default agent: once counted, there is none of it. What is
    reserved is reserved for the executions that are `running`, and is counted from those alone.
    """
    workspace = derive_default_workspace(owner)
    counted = sum((part.credits_used for name, part in balance.parts.items() if name.startswith(_WORKSPACES)), NOTHING)
    rest = max(NOTHING, balance.credits_used - counted)
    used: defaultdict[str, Decimal] = defaultdict(Decimal)
    used[name_part(CapKind.WORKSPACE, workspace)] = rest
    used[name_part(CapKind.AGENT, derive_default_agent(workspace))] = rest
    for task, amount in tasks.items():
        used[name_part(CapKind.TASK, task)] = amount
    reserved: defaultdict[str, Decimal] = defaultdict(Decimal)
    for execution in running:
        for name in list_parts(execution):
            reserved[name] += execution.credits_reserved
    with_cap = {name_part(CapKind.TASK, task) for task in capped}
    parts = {}
    for name in (*balance.parts, *(name for name in {**used, **reserved} if name not in balance.parts)):
        before = balance.parts.get(name, CreditPart())
        part = CreditPart(
            credits_used=before.credits_used + used.get(name, NOTHING),
            credits_reserved=reserved.get(name, NOTHING),
            is_capped=before.is_capped or name in with_cap,
        )
        if part.credits_used or part.credits_reserved:
            parts[name] = part
    return balance if parts == balance.parts else replace(balance, parts=parts)

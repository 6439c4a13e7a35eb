"""Conversations: what each is said to have used, and who is told that it is there."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from tests.campaigns.hostile.scenario_run import ScenarioRun


def find_conversation_faults(run: ScenarioRun) -> Iterator[str]:
    """Yield what is wrong with the victim's conversation, and where an attacker who did not write its id was told of it."""
    victim = run.victim
    if victim is None:
        return
    talk = victim.words["talk"]
    rows = [row for row in victim.budgets if row["name"] == talk]
    counts = [(row["id"], Decimal(row["credits_used"]), Decimal(row["credits_reserved"])) for row in rows]
    expected = (f"{run.words['vagent']}/{talk}", victim.credits_used, Decimal(0))
    if victim.budgets and expected not in counts:
        yield f"the victim's conversation counts {counts} where {expected} is due"
    if "{vtalk}" in str((run.scenario.acts, run.scenario.turns, run.scenario.conversation)):
        return
    for act, _, body in run.acts:
        if talk.encode() in body:
            yield f"{act.method} {act.to} {act.path} ({act.bearer}) was answered with the id of another's conversation"

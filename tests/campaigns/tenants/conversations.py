"""Conversations: all tenants have one of the same id, and each is charged in its own for its own executions alone."""

from __future__ import annotations

from decimal import Decimal

from ferryman.client import AsyncClient
from ferryman.domain.workspaces.names import derive_default_agent, derive_default_workspace

CONVERSATION = "talk"


async def find_conversation_faults(client: AsyncClient, credits_used: Decimal) -> list[str]:
    """Return what is wrong with the budget of an owner's only conversation, whose executions used `credits_used` and ended."""
    agent = derive_default_agent(derive_default_workspace((await client.get_me())["owner"]))
    rows = [row for row in (await client.get_budget())["budgets"] if row["kind"] == "conversation"]
    counts = [(row["id"], Decimal(row["credits_used"]), Decimal(row["credits_reserved"])) for row in rows]
    expected = [(f"{agent}/{CONVERSATION}", credits_used, Decimal(0))]
    return [] if counts == expected else [f"the conversations of {agent} have {counts}, where {expected} is due"]

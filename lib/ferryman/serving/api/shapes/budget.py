"""Budgets: what is used and reserved of each cap in the month."""

from __future__ import annotations

from ferryman.domain.owners.cap import CapKind
from ferryman.serving.api.shapes.shape import Credits, ResponseShape


class BudgetResponse(ResponseShape):
    """What `kind` and `id` name has used and reserved. Without a cap, `limit`, `credits_left` and `percent_used` are null.

    `percent_used` is rounded down. A person is counted in each workspace apart: `id` is the workspace's, a slash, the person's.
    A conversation's is the agent's, a slash, the conversation's.
    """

    kind: CapKind
    id: str
    name: str
    limit: Credits | None
    credits_used: Credits
    credits_reserved: Credits
    credits_left: Credits | None
    percent_used: int | None


class BudgetList(ResponseShape):
    """The budgets of `month` (UTC), the outermost first; of conversations, the 200 that used or reserved credits last."""

    month: str
    budgets: tuple[BudgetResponse, ...]
